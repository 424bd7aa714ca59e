"""One TOML file becomes typed settings; whatever is wrong in it is said with file and key.

A secret never stands in the file: `{ file = … }` names a file that holds it, `{ env = … }` a
variable.
"""

import os
import re
import socket
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from forewarn.config_errors import explain
from forewarn.errors import ConfigError
from forewarn.language import Language
from forewarn.records import Severity

Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]  # TOML has an inf
AGENT_PORT, DETECT_PORT, DECIDE_PORT = 9467, 9468, 9469


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file: an unknown key in it is an error.

    The text below each key is its documentation: docs/configuration.md is made of it.
    """


class Secret(_Section, frozen=True, kw_only=True):
    """Where a secret is read from: a file or an environment variable, never the settings."""

    file: str = ""
    """Path of a file that holds nothing else; white space around it is ignored."""
    env: str = ""
    """Name of an environment variable that holds it."""

    def read(self) -> str | None:
        """Return the secret, or None where none is named. Raises ConfigError."""
        if self.file:
            return _held(f"secret file {self.file}", _secret_file(self.file))
        if self.env:
            return _held(f"secret in variable {self.env}", os.environ.get(self.env, ""))
        return None


def _secret_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"secret file {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        # Without its cause: that error carries the bytes, and they are the secret.
        raise ConfigError(f"secret file {path}: is no UTF-8 text") from None


def _held(where: str, secret: str) -> str:
    if not secret.strip():
        raise ConfigError(f"{where}: is empty or not set")
    return secret.strip()


class Kafka(_Section, frozen=True, kw_only=True):
    """How to reach Kafka; read only where `bus.kind` is "kafka"."""

    bootstrap_servers: tuple[str, ...] = ("127.0.0.1:9092",)
    """Brokers to ask first, `host:port` each."""
    topic_prefix: str = "forewarn."
    """What stands before the name of every topic."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """Whether the connection is encrypted (SSL) and a user is named (SASL)."""
    tls_ca_file: str = ""
    """Certificate authority that the brokers' certificates are checked against, PEM; empty is the
    system's."""
    tls_cert_file: str = ""
    """Certificate of this client, PEM."""
    tls_key_file: str = ""
    """Key of that certificate, PEM."""
    tls_check_hostname: bool = True
    """Whether a broker's certificate must name its host."""
    sasl_mechanism: Literal["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = ""
    """How the user proves who it is."""
    sasl_username: str = ""
    """The user."""
    sasl_password: Secret = Secret()
    """The user's password."""
    compression: Literal["lz4", "zstd"] = "lz4"
    """How messages are compressed."""
    replication_factor: Annotated[int, msgspec.Meta(ge=1)] = 1
    """Copies of every topic that `forewarn topics create` asks for."""
    nodes: Annotated[int, msgspec.Meta(ge=1)] = 1000
    """Size of the cluster, in nodes; the number of partitions follows from it."""


class BusSettings(_Section, frozen=True, kw_only=True):
    """The bus that joins the stages."""

    kind: Literal["embedded", "kafka"] = "embedded"
    """`embedded` inside one process (`forewarn up`), or Apache Kafka."""
    kafka: Kafka = Kafka()
    """See the table below."""


class KernelLog(_Section, frozen=True, kw_only=True):
    """The kernel's log, where drivers tell of their devices."""

    path: str = "/dev/kmsg"
    """The device that it is read from."""
    accept_user_lines: bool = False
    """Whether lines that a user wrote into it count: anyone with root can forge one."""


class JobLog(_Section, frozen=True, kw_only=True):
    """Logs of training jobs that do not report by themselves; each file is one job.

    A log that is there when the agent starts is read from its end, one that appears later from
    its beginning.
    """

    path: Annotated[str, msgspec.Meta(min_length=1)]
    """The file, or a pattern of files: `/logs/*/train.log`, `/logs/**/rank0.log`."""
    format: Literal["megatron", "huggingface"]
    """Who writes it: Megatron-LM and its forks, or the Trainer of Hugging Face."""
    job: str = ""
    """Name of the job, for a single file; empty is the folder's name."""
    job_pattern: str = ""
    """Regular expression searched in the path, whose group `job` is the job's name."""


class Agent(_Section, frozen=True, kw_only=True):
    """The agent of one node."""

    node: str = ""
    """Name of the node; empty is the host's name."""
    listen: str = f"127.0.0.1:{AGENT_PORT}"
    """Where /metrics is served, `host:port`; port 0 is any free one."""
    period_seconds: Positive = 1.0
    """Time between two frames; each collector has its own period on top of it."""
    disable: tuple[str, ...] = ()
    """Collectors that are not to run, by name."""
    attributes: dict[str, str] = {}
    """Facts of the node for the inventory: rack, switch, feed, loop, model."""
    buffer_bytes: Annotated[int, msgspec.Meta(ge=65536)] = 64 * 2**20
    """What is held for a broker that is away; beyond it the oldest is dropped and counted."""
    inventory_seconds: Positive = 600.0
    """Time between two full inventories (changes are told at once)."""
    reporter_socket: str = ""
    """Unix socket that training processes report to; empty is one in the state folder."""
    state_directory: str = ""
    """Where cursors are kept; empty is $FOREWARN_STATE, else ~/.local/state/forewarn."""
    interfaces: tuple[str, ...] = ()
    """Virtual interfaces that are read besides the adapters, by name or pattern (`bond*`)."""
    kernel_log: KernelLog = KernelLog()
    """See the table below."""
    job_log: tuple[JobLog, ...] = ()
    """Any number of tables `[[agent.job_log]]`."""

    def node_name(self) -> str:
        """Return the node's name for entities."""
        return self.node or socket.gethostname()


class Detect(_Section, frozen=True, kw_only=True):
    """The detect stage."""

    listen: str = f"127.0.0.1:{DETECT_PORT}"
    """Where /metrics is served, `host:port`."""
    budget: Positive = 1.0
    """The one knob: expected false incidents a day on healthy history, from learned families."""
    model: str = ""
    """Folder of a model that `forewarn train` made; empty is none, then everything is learned on
    the way. It is looked at every few seconds and taken over when it changes; one that cannot be
    used is refused, told and counted, and what is in use stays."""
    seed: int = 0
    """Seed of whatever is drawn by chance, so that a replay gives the same."""
    group: str = "forewarn-detect"
    """Consumer group of the detect processes; partitions are shared among them."""


class Decide(_Section, frozen=True, kw_only=True):
    """The decide stage; exactly one is active in a cluster."""

    listen: str = f"127.0.0.1:{DECIDE_PORT}"
    """Where the interface for CLI and board and /metrics are served, `host:port`."""
    database: str = ""
    """The SQLite file of incidents, written by decide only; empty is one in the state folder."""
    runbook_directories: tuple[str, ...] = ()
    """Folders of further runbook entries; an entry of a built-in id replaces it."""


class Webhook(_Section, frozen=True, kw_only=True):
    """One place that is told of incidents; see webhooks.md."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}\Z")]
    """Its name in metrics and logs: small letters, digits, `-` and `_`."""
    url: str
    """Where incidents are sent; it is treated as a secret and never logged."""
    format: Literal["generic", "alertmanager"] = "generic"
    """What is sent: `generic` is CloudEvents with a Standard Webhooks signature, `alertmanager`
    are alerts for the Alertmanager whose start page is `url`; one table for each of its peers."""
    secret: Secret = Secret()
    """Key of the signature, `whsec_` and base64; of `alertmanager` the value of the header
    `authorization`."""
    language: Language = "en"
    """Language of the texts that stand in one language only."""
    min_severity: Severity = "minor"
    """What is less grave is not sent."""
    timeout_seconds: Positive = 10.0
    """How long one attempt may take."""

    def __repr__(self) -> str:
        return f"Webhook(name={self.name!r}, url=…)"  # chat URLs carry their token in the path


class Settings(_Section, frozen=True, kw_only=True):
    """The whole file; every key may be left out."""

    cluster: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,64}\Z")] = "default"
    """Name of the cluster, in every record; letters, digits, `.`, `_` and `-`."""
    language: Language = "en"
    """Language of what the CLI shows: `en` or `zh`."""
    bus: BusSettings = BusSettings()
    """See the table below."""
    agent: Agent = Agent()
    """See the table below."""
    detect: Detect = Detect()
    """See the table below."""
    decide: Decide = Decide()
    """See the table below."""
    webhook: tuple[Webhook, ...] = ()
    """Any number of tables `[[webhook]]`."""


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
        settings = msgspec.convert(_toml(text), Settings)
        _check(settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {explain(error, Settings)}") from error
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return settings


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits, or 1,000 levels
        raise ConfigError(f"no TOML: {error}") from error


def _check(settings: Settings) -> None:
    """Check what types do not say. Raises ConfigError naming the key."""
    for key in ("agent", "detect", "decide"):
        address(getattr(settings, key).listen, f"{key}.listen")
    _check_secret(settings.bus.kafka.sasl_password, "bus.kafka.sasl_password")
    for index, log in enumerate(settings.agent.job_log):
        _check_job_log(log, f"agent.job_log[{index}]")
    names = [webhook.name for webhook in settings.webhook]
    for index, webhook in enumerate(settings.webhook):
        _check_secret(webhook.secret, f"webhook[{index}].secret")
        if webhook.name in names[:index]:
            raise ConfigError(f"webhook[{index}].name: two are called {webhook.name!r}")


def _check_job_log(log: JobLog, key: str) -> None:
    if log.job and log.job_pattern:
        raise ConfigError(f"{key}: names both job and job_pattern; one of them")
    try:
        groups = re.compile(log.job_pattern).groupindex
    except re.error as error:
        raise ConfigError(f"{key}.job_pattern: no regular expression: {error}") from error
    if log.job_pattern and "job" not in groups:
        raise ConfigError(f"{key}.job_pattern: needs a group (?P<job>…)")


def _check_secret(secret: Secret, key: str) -> None:
    if secret.file and secret.env:
        raise ConfigError(f"{key}: names both a file and a variable; one of them")


def state_directory() -> Path:
    """Return the state folder: FOREWARN_STATE, else the user's own."""
    if "FOREWARN_STATE" in os.environ:
        return Path(os.environ["FOREWARN_STATE"])
    base = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "forewarn"


def address(listen: str, key: str = "listen") -> tuple[str, int]:
    """Split `host:port`; the port may be 0 for any free one. Raises ConfigError naming `key`."""
    host, _, port = listen.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ConfigError(f"{key}: {listen!r} is no host:port, as in 127.0.0.1:9467")
    return host.strip("[]"), int(port)
