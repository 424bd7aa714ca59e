"""What `forewarn doctor` looks at."""

import errno
import os
from pathlib import Path

import msgspec
import pytest

from forewarn.cli import doctor_checks
from forewarn.config import Settings, Webhook


def _settings(path: Path) -> Settings:
    own = Settings()
    log = msgspec.structs.replace(own.agent.kernel_log, path=str(path))
    return msgspec.structs.replace(own, agent=msgspec.structs.replace(own.agent, kernel_log=log))


def test_kernel_log_is_opened_and_not_judged_by_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kmsg"
    path.touch()
    (good,) = doctor_checks.kernel_log(_settings(path))
    assert good.level == "ok"

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "open", refuse)
    (bad,) = doctor_checks.kernel_log(_settings(path))
    assert (bad.level, bad.text) == ("warn", f"{path} not readable: Operation not permitted")
    assert "CAP_SYSLOG" in bad.fix


def test_secret_is_asked_for_only_where_something_is_signed() -> None:
    hooks = (
        Webhook(name="oncall", url="https://hooks.example.com/x"),
        Webhook(name="am", url="http://alertmanager:9093", format="alertmanager"),
    )
    oncall, am = doctor_checks.webhooks(Settings(webhook=hooks))
    assert (oncall.level, oncall.text) == ("warn", "oncall: unsigned")
    assert "webhook.secret of oncall" in oncall.fix
    assert (am.level, am.fix) == ("ok", "")
