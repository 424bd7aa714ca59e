"""Wear and media errors of drives, by `nvme smart-log` or `smartctl`, whichever is there."""

import shutil
from collections.abc import Callable, Container, Iterator
from typing import Any

import msgspec

from exporters.children import Answer, Children
from exporters.collector import Host, Measurement, failed, unsupported
from exporters.storage.drives import NO_DRIVE
from forewarn import entity as entities
from forewarn.records import Outcome

_LIFE, _ERRORS = "disk_life_remaining_ratio", "disk_media_errors_total"
PROBE_SECONDS = 10.0
# smartctl(8), RETURN VALUES: bit 0 a wrong command, bit 1 the device did not open.
_NOT_READ = 0b11
_REPORTED_UNCORRECTABLE = 187  # ATA attribute: errors that ECC could not correct


class Health(msgspec.Struct, frozen=True):
    """What a drive says of itself; None where it does not."""

    life: float | None = None
    errors: float | None = None


def of_nvme(log: dict[str, Any]) -> Health:
    """Read `nvme smart-log -o json`; older versions say `percent_used`."""
    used = log.get("percent_used", log.get("percentage_used"))
    return Health(_left(used), _number(log.get("media_errors")))


def of_smartctl(page: dict[str, Any]) -> Health:
    """Read `smartctl -a -j`: NVMe, SCSI or ATA, as the drive is."""
    if isinstance(log := page.get("nvme_smart_health_information_log"), dict):
        return of_nvme(log)
    if isinstance(log := page.get("scsi_error_counter_log"), dict):
        kinds = [one for one in log.values() if isinstance(one, dict)]
        errors = [_number(one.get("total_uncorrected_errors")) for one in kinds]
        used = page.get("scsi_percentage_used_endurance_indicator")
        return Health(_left(used), sum(count for count in errors if count is not None))
    endurance = page.get("endurance_used")
    used = endurance.get("current_percent") if isinstance(endurance, dict) else None
    return Health(_left(used), _ata_errors(page))


def _ata_errors(page: dict[str, Any]) -> float | None:
    held = page.get("ata_smart_attributes")
    table = held.get("table", []) if isinstance(held, dict) else []
    for row in table:
        if row.get("id") == _REPORTED_UNCORRECTABLE:
            return _number(row.get("raw", {}).get("value"))
    return None


def _number(value: object) -> float | None:
    """Return a number; big ones come as text from some versions."""
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None


def _left(percent_used: object) -> float | None:
    """Return the share that is left; a drive may be used beyond its rating (up to 255 %)."""
    used = _number(percent_used)
    return None if used is None else max(0.0, 1 - used / 100)


class Smart:
    """Asks every drive once a minute, all beside each other; needs root and one of the tools."""

    name = "smart"
    signals = (_LIFE, _ERRORS)
    deadline_seconds = PROBE_SECONDS + 3.0

    def __init__(
        self,
        host: Host,
        children: Children | None = None,
        which: Callable[[str], str | None] = shutil.which,
    ) -> None:
        self._host, self._which = host, which
        self._children = children or Children(PROBE_SECONDS)

    def read(self, due: Container[str]) -> list[Measurement]:
        """Ask all drives; one that no tool can read does not support it."""
        if not any(signal in due for signal in self.signals):
            return []
        names = sorted(path.name for path in (self._host.sys / "block").iterdir())
        drives = [name for name in names if not NO_DRIVE.fullmatch(name)]
        commands = {name: command for name in drives if (command := self._command(name))}
        answers = self._children.run(commands)
        found = [m for name in drives for m in self._drive(name, answers.get(name))]
        return [m for m in found if m.signal in due]

    def _command(self, name: str) -> tuple[str, ...] | None:
        nvme, smartctl = self._which("nvme"), self._which("smartctl")
        if nvme and name.startswith("nvme"):
            return nvme, "smart-log", f"/dev/{name}", "-o", "json"
        return (smartctl, "-a", "-j", f"/dev/{name}") if smartctl else None

    def _drive(self, name: str, answer: Answer | None) -> Iterator[Measurement]:
        entity = f"{self._host.entity}/disk/{entities.name(name)}"
        health = Outcome.UNSUPPORTED if answer is None else judge(name, answer)
        values = (health, health) if isinstance(health, Outcome) else (health.life, health.errors)
        for signal, value in zip(self.signals, values, strict=True):
            if value is Outcome.FAILED:
                yield failed(signal, entity)
            elif value is None or isinstance(value, Outcome):
                yield unsupported(signal, entity)
            else:
                yield Measurement(signal, entity, value)


def judge(name: str, answer: Answer) -> Health | Outcome:
    """Return what a tool read, or why it could not.

    A drive that it does not know (a virtual one) is not supported; no answer, and one that is no
    JSON, is a failure.
    """
    if answer.code is None:
        return Outcome.FAILED
    try:
        page = msgspec.json.decode(answer.output or b"null")
    except msgspec.DecodeError:
        return Outcome.FAILED
    if not isinstance(page, dict):
        return Outcome.FAILED
    if "smartctl" in page:
        return Outcome.UNSUPPORTED if answer.code & _NOT_READ else of_smartctl(page)
    return Outcome.FAILED if answer.code else of_nvme(page)
