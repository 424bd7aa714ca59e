"""Pressure stall: how long some task had to wait for processor, memory or I/O."""

import errno
from collections.abc import Container

from exporters.collector import CollectorError, Host, Measurement, unsupported

FILES = {
    "node_pressure_cpu_seconds_total": "cpu",
    "node_pressure_io_seconds_total": "io",
    "node_pressure_memory_seconds_total": "memory",
}


def parse(text: str) -> float:
    """Return the seconds in which some task was stalled; the kernel counts microseconds.

    Source: Documentation/accounting/psi.rst. Raises CollectorError.
    """
    for line in text.splitlines():
        share, _, rest = line.partition(" ")
        if share == "some" and "total=" in rest:
            return int(rest.rpartition("total=")[2]) / 1e6
    raise CollectorError(f"pressure: no line `some … total=` in {text!r}")


class Pressure:
    """Reads /proc/pressure; a kernel without CONFIG_PSI does not support it."""

    name = "pressure"
    signals = tuple(FILES)
    deadline_seconds = 1.0

    def __init__(self, host: Host) -> None:
        self._entity = host.entity
        self._folder = host.proc / "pressure"

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the three files."""
        return [self._one(signal, name) for signal, name in FILES.items() if signal in due]

    def _one(self, signal: str, name: str) -> Measurement:
        try:
            text = (self._folder / name).read_text(encoding="ascii")
        except FileNotFoundError:
            return unsupported(signal, self._entity)
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:  # compiled in, switched off at boot (psi=0)
                return unsupported(signal, self._entity)
            raise
        return Measurement(signal, self._entity, parse(text))
