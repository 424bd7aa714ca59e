"""Network interfaces: traffic, errors, carrier and speed from /sys/class/net."""

import errno
from collections.abc import Container
from pathlib import Path

import msgspec

from exporters.collector import Host, Measurement, failed, unsupported
from forewarn import entity as entities

MEGABIT_BYTES = 1e6 / 8


class Row(msgspec.Struct, frozen=True):
    """One signal, its file below /sys/class/net/<interface>, and what its number is worth."""

    signal: str
    file: str
    factor: float = 1.0


# Source: Documentation/ABI/testing/sysfs-class-net and sysfs-class-net-statistics.
ROWS = (
    Row("nic_rx_bytes_total", "statistics/rx_bytes"),
    Row("nic_tx_bytes_total", "statistics/tx_bytes"),
    Row("nic_rx_errors_total", "statistics/rx_errors"),
    Row("nic_rx_drops_total", "statistics/rx_dropped"),
    Row("nic_tx_discards_total", "statistics/tx_dropped"),
    Row("nic_carrier_changes_total", "carrier_changes"),
    Row("nic_link_up", "carrier"),
    Row("nic_link_speed_bytes_per_second", "speed", MEGABIT_BYTES),
)
_SPEED = "nic_link_speed_bytes_per_second"


def interfaces(folder: Path) -> list[str]:
    """Return the interfaces that have a device behind them: no loopback, bridge or tunnel.

    Interfaces that nobody has brought up (IFF_UP unset) are left out: their link is down on
    purpose.
    """
    found = (path.name for path in folder.iterdir() if (path / "device").exists())
    return sorted(name for name in found if int((folder / name / "flags").read_text(), 16) & 1)


class Interfaces:
    """Reads one small file a signal; only what is due is opened."""

    name = "interfaces"
    signals = tuple(row.signal for row in ROWS)
    deadline_seconds = 2.0

    def __init__(self, host: Host) -> None:
        self._entity = host.entity
        self._folder = host.sys / "class/net"

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read all interfaces. An Ethernet interface has one port, number 1."""
        rows = [row for row in ROWS if row.signal in due]
        return [
            self._one(row, name, f"{self._entity}/nic/{entities.name(name)}/port/1")
            for name in interfaces(self._folder)
            for row in rows
        ]

    def _one(self, row: Row, interface: str, entity: str) -> Measurement:
        try:
            value = int((self._folder / interface / row.file).read_text(encoding="ascii"))
        except FileNotFoundError:
            return unsupported(row.signal, entity)
        except OSError as error:
            # The driver answers EINVAL where it has no such notion (the speed of a virtual link).
            unknown = error.errno in {errno.EINVAL, errno.EOPNOTSUPP}
            return unsupported(row.signal, entity) if unknown else failed(row.signal, entity)
        if row.signal == _SPEED and value <= 0:
            return unsupported(row.signal, entity)
        return Measurement(row.signal, entity, value * row.factor)
