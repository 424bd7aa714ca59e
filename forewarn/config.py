"""One TOML file becomes typed settings; whatever is wrong in it is said with file and key.

Secrets never stand in the file: `..._file` names a file that holds one, `..._env` a variable.
"""

import os
import re
import socket
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from forewarn.errors import ConfigError
from forewarn.language import Language
from forewarn.records import Severity

Positive = Annotated[float, msgspec.Meta(gt=0)]
Port = Annotated[str, msgspec.Meta(pattern=r"^.+:\d{1,5}$")]
AGENT_PORT, DETECT_PORT, DECIDE_PORT = 9467, 9468, 9469


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file: an unknown key in it is an error."""


class Secret(_Section, frozen=True, kw_only=True):
    """Where a secret is read from: one of `file` or `env`."""

    file: str = ""
    env: str = ""

    def read(self) -> str | None:
        """Return the secret, or None where none is named. Raises ConfigError."""
        if self.file:
            try:
                return Path(self.file).read_text(encoding="utf-8").strip()
            except OSError as error:
                raise ConfigError(f"secret file {self.file}: {error.strerror}") from error
        if self.env:
            if self.env not in os.environ:
                raise ConfigError(f"secret: environment variable {self.env} is not set")
            return os.environ[self.env]
        return None


class Kafka(_Section, frozen=True, kw_only=True):
    """How to reach Kafka; names as Kafka's own settings spell them."""

    bootstrap_servers: tuple[str, ...] = ("127.0.0.1:9092",)
    topic_prefix: str = "forewarn."
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    tls_ca_file: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    tls_check_hostname: bool = True
    sasl_mechanism: Literal["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = ""
    sasl_username: str = ""
    sasl_password: Secret = Secret()
    compression: Literal["lz4", "zstd"] = "lz4"
    replication_factor: Annotated[int, msgspec.Meta(ge=1)] = 1
    nodes: Annotated[int, msgspec.Meta(ge=1)] = 1000


class BusSettings(_Section, frozen=True, kw_only=True):
    """Which bus joins the stages: `embedded` inside one process, or Kafka."""

    kind: Literal["embedded", "kafka"] = "embedded"
    kafka: Kafka = Kafka()


class KernelLog(_Section, frozen=True, kw_only=True):
    """The kernel log. Lines of a user (facility not kern) are refused unless told otherwise."""

    path: str = "/dev/kmsg"
    accept_user_lines: bool = False


class Agent(_Section, frozen=True, kw_only=True):
    """The agent of one node. `node` is the host's name unless set; `disable` names collectors.

    `attributes` are facts of the node for the inventory: rack, switch, feed, loop, model.
    """

    node: str = ""
    listen: Port = f"127.0.0.1:{AGENT_PORT}"
    period_seconds: Positive = 1.0
    disable: tuple[str, ...] = ()
    attributes: dict[str, str] = {}
    buffer_bytes: Annotated[int, msgspec.Meta(ge=65536)] = 64 * 2**20
    inventory_seconds: Positive = 600.0
    reporter_socket: str = ""
    state_directory: str = ""
    kernel_log: KernelLog = KernelLog()

    def node_name(self) -> str:
        """Return the node's name for entities."""
        return self.node or socket.gethostname()


class Detect(_Section, frozen=True, kw_only=True):
    """The detect stage. `budget` is B: expected false incidents a day on healthy history."""

    listen: Port = f"127.0.0.1:{DETECT_PORT}"
    budget: Positive = 1.0
    seed: int = 0
    group: str = "forewarn-detect"


class Decide(_Section, frozen=True, kw_only=True):
    """The decide stage, sole writer of `database`."""

    listen: Port = f"127.0.0.1:{DECIDE_PORT}"
    database: str = ""
    runbook_directories: tuple[str, ...] = ()


class Webhook(_Section, frozen=True, kw_only=True):
    """One place that is told of incidents. The URL is the operator's own; see docs/webhooks.md."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    url: str
    format: Literal["generic"] = "generic"
    secret: Secret = Secret()
    language: Language = "en"
    min_severity: Severity = "minor"
    timeout_seconds: Positive = 10.0


class Settings(_Section, frozen=True, kw_only=True):
    """The whole file."""

    cluster: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = "default"
    language: Language = "en"
    bus: BusSettings = BusSettings()
    agent: Agent = Agent()
    detect: Detect = Detect()
    decide: Decide = Decide()
    webhook: tuple[Webhook, ...] = ()


def load(path: Path | None) -> Settings:
    """Read settings; without a path, the defaults.

    Raises:
        ConfigError: naming file, key and what is expected there.

    """
    if path is None:
        return Settings()
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no UTF-8 text: {error.reason}") from error


def parse(text: str, where: str) -> Settings:
    """Read settings from TOML text; `where` names it in errors. Raises ConfigError."""
    try:
        settings = msgspec.convert(tomllib.loads(text), Settings)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: no TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_explain(str(error))}") from error
    names = [webhook.name for webhook in settings.webhook]
    for name in {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"{where}: webhook: two are called {name!r}; names must differ")
    return settings


def _explain(error: str) -> str:
    """Turn msgspec's message into `key: what is wrong (fix)`."""
    message, _, place = error.partition(" - at ")
    place = re.sub(r"^\$\.?", "", place.strip("`"))
    if unknown := re.search(r"unknown field `(\w+)`", message):
        key = f"{place}.{unknown[1]}".lstrip(".")
        return f"{key}: unknown key; remove it or see docs/configuration.md"
    words = message[0].lower() + message[1:].replace("`", "")
    return f"{place or 'file'}: {words}"


def state_directory() -> Path:
    """Return the state folder: FOREWARN_STATE, else the user's own."""
    if "FOREWARN_STATE" in os.environ:
        return Path(os.environ["FOREWARN_STATE"])
    base = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "forewarn"


def address(listen: str) -> tuple[str, int]:
    """Split `host:port`; the port may be 0 for any free one. Raises ConfigError."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"listen: {listen!r} is no host:port")
    return host.strip("[]"), int(port)
