"""One port's counters, read from where the table of sources says."""

import errno
import math
from functools import cached_property
from pathlib import Path

from exporters.collector import Measurement
from exporters.nic.ethtool import Ethtool, Statistics
from exporters.nic.ports import Port
from exporters.nic.sources import SOURCES, Part
from forewarn.records import Outcome

Answer = float | Outcome  # a number, or why there is none
# What a driver answers where it has no such notion: the speed of a virtual link, a counter that
# the adapter does not keep in this mode (a ConnectX-7 in switch mode, say).
_NO_SUCH_NOTION = {
    errno.EINVAL, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOTTY, errno.ENOENT, errno.EPERM,
}  # fmt: skip


class Counters:
    """The counters of one port at one reading; driver statistics are asked for once, if at all."""

    def __init__(self, port: Port, net: Path, ethtool: Ethtool) -> None:
        self._port, self._net, self._ethtool = port, net, ethtool

    def measure(self, signal: str) -> Measurement:
        """Return the signal from the first source that the port has."""
        for parts in SOURCES[signal]:
            answer = total([self._answer(part) for part in parts])
            if answer is not Outcome.UNSUPPORTED:
                return measurement(signal, self._port.entity, answer)
        return measurement(signal, self._port.entity, Outcome.UNSUPPORTED)

    def _answer(self, part: Part) -> Answer:
        if part.where == "driver":
            return self._of_driver(part.name)
        folder = self._port.infiniband if part.where == "rdma" else self._interface
        value = number(folder / part.name) if folder is not None else Outcome.UNSUPPORTED
        if isinstance(value, Outcome):
            return value
        # A narrow counter that has stopped says nothing any more, until somebody resets it.
        return Outcome.FAILED if value == part.stops_at else value * part.factor

    @property
    def _interface(self) -> Path | None:
        return self._net / self._port.interface if self._port.interface else None

    def _of_driver(self, pattern: str) -> Answer:
        held = self._statistics
        if isinstance(held, Outcome):
            return held
        total = held.total(pattern)
        return Outcome.UNSUPPORTED if total is None else total

    @cached_property
    def _statistics(self) -> Statistics | Outcome:
        if not self._port.interface:
            return Outcome.UNSUPPORTED
        try:
            return self._ethtool.statistics(self._port.interface)
        except OSError as error:
            return refusal(error)


def total(answers: list[Answer]) -> Answer:
    """Return the sum of the parts that there are; one that failed spoils it."""
    if Outcome.FAILED in [answer for answer in answers if isinstance(answer, Outcome)]:
        return Outcome.FAILED
    known = [answer for answer in answers if not isinstance(answer, Outcome)]
    return math.fsum(known) if known else Outcome.UNSUPPORTED


def number(path: Path) -> Answer:
    """Return the number in a file of sysfs; text in its place (`N/A (no PMA)`) is none."""
    try:
        return float(int(path.read_text(encoding="ascii", errors="replace")))
    except ValueError:
        return Outcome.UNSUPPORTED
    except OSError as error:
        return refusal(error)


def refusal(error: OSError) -> Outcome:
    """Say whether a driver cannot, or could not this time."""
    return Outcome.UNSUPPORTED if error.errno in _NO_SUCH_NOTION else Outcome.FAILED


def measurement(signal: str, entity: str, answer: Answer) -> Measurement:
    """Return the answer as a measurement."""
    if isinstance(answer, Outcome):
        return Measurement(signal, entity, outcome=answer)
    return Measurement(signal, entity, answer)
