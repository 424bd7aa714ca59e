"""Settings: what is wrong in the file is said with its key, and a secret is never said at all.

Each file of fixtures/config is wrong in the way of its name; its first line holds what must be
said after the name of the file (or begin what is said).
"""

from pathlib import Path

import pytest

from forewarn import config
from forewarn.config import Secret, Settings, Webhook
from forewarn.errors import ConfigError

BAD = sorted((Path(__file__).parent / "fixtures/config").glob("*.toml"))
MARK = "# expected: "
HIDDEN = "cGxlYXNlLW5ldmVyLXNob3cgbWU"


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_file_is_refused_with_file_key_and_what_is_expected(path: Path) -> None:
    first = path.read_text(encoding="utf-8", errors="replace").splitlines()[0]
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    assert first.startswith(MARK)
    # What follows "no TOML: " is Python's own, with line and column.
    assert str(caught.value).startswith(f"{path}: {first.removeprefix(MARK)}")
    assert HIDDEN not in str(caught.value)
    assert caught.value.exit_code == 2


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: No such file or directory"):
        config.load(tmp_path / "absent.toml")


def test_no_file_and_an_empty_file_are_the_defaults() -> None:
    assert config.load(None) == Settings() == config.parse("", "empty.toml")


def test_good_file_is_typed() -> None:
    text = """
        cluster = "hall-a"
        [bus]
        kind = "kafka"
        [bus.kafka]
        bootstrap_servers = ["a:1", "b:2"]
        sasl_password = { env = "PASSWORD" }
        [agent]
        period_seconds = 2
        attributes = { rack = "r12" }
        [[webhook]]
        name = "on-call"
        url = "https://example.com"
    """
    settings = config.parse(text, "good.toml")
    assert settings.bus.kafka.bootstrap_servers == ("a:1", "b:2")
    assert settings.bus.kafka.sasl_password == Secret(env="PASSWORD")
    assert settings.agent.period_seconds == 2.0
    assert settings.agent.attributes == {"rack": "r12"}
    assert settings.webhook == (Webhook(name="on-call", url="https://example.com"),)


def test_servers_listen_on_this_machine_only_unless_told() -> None:
    settings = Settings()
    ports = [getattr(settings, stage).listen for stage in ("agent", "detect", "decide")]
    assert ports == ["127.0.0.1:9467", "127.0.0.1:9468", "127.0.0.1:9469"]


def test_secret_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("  hush\n", encoding="utf-8")
    assert Secret(file=str(path)).read() == "hush"


def test_secret_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH", "hush")
    assert Secret(env="HUSH").read() == "hush"


def test_no_secret_is_none() -> None:
    assert Secret().read() is None


def test_secret_that_is_not_there_names_its_place(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n", encoding="utf-8")
    binary.write_bytes(b"hush\xff")
    for secret, message in (
        (Secret(file=str(tmp_path / "none")), "secret file .*none: No such file or directory"),
        (Secret(file=str(empty)), "secret file .*empty: is empty or not set"),
        (Secret(file=str(binary)), "secret file .*binary: is no UTF-8 text"),
        (Secret(env="NOT_THERE"), "secret in variable NOT_THERE: is empty or not set"),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            secret.read()
        assert caught.value.__cause__ is None or "hush" not in repr(caught.value.__cause__)


def test_settings_show_no_secret_and_no_url(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("hush", encoding="utf-8")
    hook = Webhook(
        name="chat", url="https://u:hush@example.com/hook/hush", secret=Secret(file=str(path))
    )
    settings = Settings(webhook=(hook,))
    assert hook.secret.read() == "hush"
    assert "hush" not in repr(settings)
    assert "hush" not in str(settings)


@pytest.mark.parametrize(
    ("listen", "parts"),
    [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:9467", ("::1", 9467)), ("host:1", ("host", 1))],
)
def test_address_is_split(listen: str, parts: tuple[str, int]) -> None:
    assert config.address(listen) == parts


@pytest.mark.parametrize("listen", ["", "9467", ":9467", "host:", "host:x", "host:65536", "h:²"])
def test_bad_address_is_refused(listen: str) -> None:
    with pytest.raises(ConfigError, match=r"agent\.listen: .* is no host:port"):
        config.address(listen, "agent.listen")


def test_state_folder_is_the_first_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("FOREWARN_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config.state_directory() == tmp_path / ".local/state/forewarn"
    monkeypatch.setenv("XDG_STATE_HOME", "/x")
    assert config.state_directory() == Path("/x/forewarn")
    monkeypatch.setenv("FOREWARN_STATE", "/f")
    assert config.state_directory() == Path("/f")


def test_node_name_is_the_hosts_unless_set() -> None:
    assert config.Agent(node="n7").node_name() == "n7"
    assert config.Agent().node_name()


def test_job_logs_are_typed() -> None:
    keys = 'path = "/logs/*/out"\nformat = "megatron"\njob_pattern = "/(?P<job>.)/"'
    (log,) = config.parse(f"[[agent.job_log]]\n{keys}", "f.toml").agent.job_log
    assert (log.path, log.format, log.job) == ("/logs/*/out", "megatron", "")


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        ('format = "nemo"', r"agent\.job_log\[0\]\.format"),
        ('format = "megatron"\njob = "a"\njob_pattern = "(?P<job>.)"', "both job and job_pattern"),
        ('format = "megatron"\njob_pattern = "("', r"agent\.job_log\[0\]\.job_pattern: no regular"),
        ('format = "megatron"\njob_pattern = "(.)"', r"needs a group \(\?P<job>"),
        ('format = "megatron"\nname = "a"', "unknown"),
    ],
)
def test_bad_job_log_is_refused_with_its_key(rest: str, wanted: str) -> None:
    with pytest.raises(ConfigError, match=wanted):
        config.parse(f'[[agent.job_log]]\npath = "x"\n{rest}', "f.toml")
