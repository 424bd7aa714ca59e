"""The link of a port: its state, its speed against its highest, how much of it is used."""

import re
from pathlib import Path

from exporters.collector import Notice
from exporters.nic.counters import Answer, number, refusal
from exporters.nic.ethtool import Ethtool
from exporters.nic.ports import Port, text
from forewarn.records import Outcome, Severity

MEGABIT_BYTES, GIGABIT_BYTES = 1e6 / 8, 1e9 / 8
_UP = {"active", "active_defer"}
_STATE = re.compile(r"\d+: (\w+)")
_RATE = re.compile(r"([\d.]+) Gb/sec")
SEVERITIES: dict[str, Severity] = {"down": "major"}


def state(port: Port, net: Path) -> str:
    """Return `active`, `down`, `init`, `armed` …; empty where nobody says.

    The RDMA port knows more than the carrier: without a subnet manager it stays in `init`.
    """
    if port.infiniband is not None:
        match = _STATE.match(text(port.infiniband / "state"))
        if match:
            return match[1].lower()
    return {"1": "active", "0": "down"}.get(text(net / port.interface / "carrier"), "")


def is_up(state: str) -> Answer:
    """Return 1 while the state is one that carries traffic."""
    return float(state in _UP) if state else Outcome.UNSUPPORTED


def speed(port: Port, net: Path, state: str) -> Answer:
    """Return the speed that the link came up with, in bytes a second; none while it is down."""
    if state and state not in _UP:
        return Outcome.NOT_DUE
    if port.infiniband is not None:
        match = _RATE.match(text(port.infiniband / "rate"))
        if match:
            return float(match[1]) * GIGABIT_BYTES
    value = number(net / port.interface / "speed") if port.interface else Outcome.UNSUPPORTED
    if isinstance(value, Outcome):
        return value
    return value * MEGABIT_BYTES if value > 0 else Outcome.UNSUPPORTED


def highest(port: Port, ethtool: Ethtool) -> Answer:
    """Return the highest speed that port and profile allow.

    InfiniBand has no such file: there it is not supported, and the port's peers tell instead.
    """
    if not port.interface:
        return Outcome.UNSUPPORTED
    try:
        speeds = ethtool.speeds(port.interface)
    except OSError as error:
        return refusal(error)
    return max(speeds) * MEGABIT_BYTES if speeds else Outcome.UNSUPPORTED


class LinkStates:
    """Remembers the state of each port and tells of changes, also of those between two readings."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, Answer]] = {}

    def see(self, entity: str, state: str, carrier_changes: Answer) -> list[Notice]:
        """Return what happened since the last reading; the first one only sets the state."""
        before, changes = self._last.get(entity, (state, carrier_changes))
        if state:
            self._last[entity] = (state, carrier_changes)
        if not state or not before:
            return []
        if state != before:
            return [_notice(entity, state, f"the link was {before} and is {state}")]
        blinked = not isinstance(changes, Outcome) and not isinstance(carrier_changes, Outcome)
        if blinked and state in _UP and carrier_changes > changes:
            told = f"the carrier changed {carrier_changes - changes:.0f} times between two readings"
            return [_notice(entity, "down", told), _notice(entity, state, told)]
        return []


def _notice(entity: str, state: str, told: str) -> Notice:
    return Notice(entity, f"nic.link_state:{state}", SEVERITIES.get(state, "info"), told)


class Utilization:
    """Traffic of each port between two readings, as a share of its speed."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float, float]] = {}

    def of(self, entity: str, at_seconds: float, rx: float, tx: float, speed: Answer) -> Answer:
        """Return the share of the busier direction; not due at first sight and after a restart."""
        before = self._before.get(entity)
        self._before[entity] = (at_seconds, rx, tx)
        if isinstance(speed, Outcome):
            return speed
        if before is None or at_seconds <= before[0] or rx < before[1] or tx < before[2]:
            return Outcome.NOT_DUE
        moved = max(rx - before[1], tx - before[2])
        return moved / (at_seconds - before[0]) / speed
