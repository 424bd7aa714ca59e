"""What `forewarn doctor` looks at."""

import errno
import os
from pathlib import Path

import msgspec
import pytest

from detector.notify.address import AddressError
from exporters.collector import Host
from exporters.gpu.nvml.api import AbsentError, Nvml
from exporters.gpu.nvml.library import Library
from forewarn.cli import doctor_checks
from forewarn.config import JobLog, Settings, Webhook


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
    oncall, am = doctor_checks.webhooks(Settings(webhook=hooks), lambda _host, _port: ["10.0.0.7"])
    assert (oncall.level, oncall.text) == ("warn", "oncall: unsigned")
    assert "webhook.secret of oncall" in oncall.fix
    assert (am.level, am.fix) == ("ok", "")


def _way(url: str, *addresses: str) -> doctor_checks.Result:
    hooks = (Webhook(name="am", url=url, format="alertmanager"),)
    (own,) = doctor_checks.webhooks(Settings(webhook=hooks), lambda _host, _port: list(addresses))
    return own


@pytest.mark.parametrize(
    ("url", "address", "told"),
    [
        ("http://u:hunter2@am.example.com/x", "10.0.0.7", "holds a user or password"),
        ("127.0.0.1:9093", "127.0.0.1", "expected http://host"),
        ("http://am.example.com", "169.254.169.254", "link-local"),
    ],
)
def test_address_that_decide_would_refuse_is_told_before_it_starts(
    url: str, address: str, told: str
) -> None:
    own = _way(url, address)
    assert (own.level, told in own.text) == ("fail", True)
    assert "webhook.url of am" in own.fix
    assert "hunter2" not in own.text


def test_host_that_is_not_known_here_is_no_failure() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise AddressError("host cannot be resolved: Name or service not known")

    hooks = (Webhook(name="am", url="http://am.example.com", format="alertmanager"),)
    (own,) = doctor_checks.webhooks(Settings(webhook=hooks), unknown)
    assert (own.level, "cannot be resolved" in own.text) == ("warn", True)


ADDRESS = "0000:1a:00.0"


def _host(tmp_path: Path, *addresses: str) -> Host:
    for own in addresses:
        device = tmp_path / "bus/pci/devices" / own
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de\n")
        (device / "class").write_text("0x030200\n")
    return Host("node/n1", sys=tmp_path)


def test_node_without_a_gpu_needs_no_driver(tmp_path: Path) -> None:
    (own,) = doctor_checks.gpus(Settings(), _host(tmp_path), Library(_absent))
    assert (own.level, own.text) == ("ok", "no NVIDIA GPU on the PCI bus")


def _absent() -> Nvml:
    raise AbsentError("no NVIDIA driver library: libnvidia-ml.so.1")


def test_gpus_without_a_driver_fail_and_say_so(tmp_path: Path) -> None:
    (own,) = doctor_checks.gpus(Settings(), _host(tmp_path, ADDRESS), Library(_absent))
    assert own.level == "fail"
    assert own.text == ("1 NVIDIA GPUs cannot be read: no NVIDIA driver library: libnvidia-ml.so.1")
    assert "driver" in own.fix


class _Sees(Nvml):
    """A driver that sees some of the slots."""

    def __init__(self, *slots: str) -> None:
        self._slots = set(slots)

    def ask(self, name: str, *_: object) -> int:
        assert name == "nvmlInit"
        return 0

    def slots(self) -> set[str]:
        return self._slots


def test_gpu_that_the_driver_does_not_see_is_named(tmp_path: Path) -> None:
    host = _host(tmp_path, ADDRESS, "0000:3b:00.0")
    lost, rest = doctor_checks.gpus(Settings(), host, Library(lambda: _Sees(ADDRESS)))
    assert (lost.level, "0000:3b:00.0" in lost.text) == ("fail", True)
    assert (rest.level, rest.text) == ("ok", "1 of 2 NVIDIA GPUs answer")


def _logs(*logs: JobLog) -> list[tuple[str, str]]:
    own = Settings()
    agent = msgspec.structs.replace(own.agent, job_log=logs)
    found = doctor_checks.job_logs(msgspec.structs.replace(own, agent=agent))
    return [(result.level, result.text) for result in found]


def test_job_log_is_looked_for_and_read_in_its_format(tmp_path: Path) -> None:
    path = tmp_path / "run1" / "train.log"
    pattern = str(tmp_path / "*" / "train.log")
    assert _logs() == []
    assert _logs(JobLog(path=pattern, format="megatron")) == [("warn", f"{pattern}: no such file")]
    path.parent.mkdir()
    path.write_text("loading\n{'loss': 2.5, 'grad_norm': 1.0, 'epoch': 0.1}\n")
    assert _logs(JobLog(path=pattern, format="huggingface")) == [
        ("ok", f"{path}: 1 of its last 2 lines tell of steps")
    ]
    assert _logs(JobLog(path=pattern, format="megatron")) == [
        ("warn", f"{path}: none of its last 2 lines is a step as megatron logs it")
    ]


def test_job_log_that_cannot_be_read_fails(tmp_path: Path) -> None:
    ((level, text),) = _logs(JobLog(path=str(tmp_path), format="megatron"))
    assert (level, text) == ("fail", f"{tmp_path}: Is a directory")
