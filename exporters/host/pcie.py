"""PCIe errors, as the kernel's AER driver counts them for every device and port of the node."""

from collections.abc import Container

from exporters.collector import CollectorError, Host, Measurement, unsupported

FILES = {
    "node_pcie_corrected_errors_total": ("aer_dev_correctable", "TOTAL_ERR_COR"),
    "node_pcie_nonfatal_errors_total": ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL"),
    "node_pcie_fatal_errors_total": ("aer_dev_fatal", "TOTAL_ERR_FATAL"),
}


def parse(text: str, total: str) -> int:
    """Return the line `total` of one counter file.

    Source: Documentation/ABI/testing/sysfs-bus-pci-devices-aer. Raises CollectorError.
    """
    for line in text.splitlines():
        name, _, number = line.partition(" ")
        if name == total:
            return int(number)
    raise CollectorError(f"AER: no line {total}")


class Pcie:
    """Sums over all devices below /sys/bus/pci; without AER files the node does not support it."""

    name = "pcie"
    signals = tuple(FILES)
    deadline_seconds = 5.0

    def __init__(self, host: Host) -> None:
        self._entity = host.entity
        self._folder = host.sys / "bus/pci/devices"

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the counters of all devices."""
        return [self._one(signal, *row) for signal, row in FILES.items() if signal in due]

    def _one(self, signal: str, name: str, total: str) -> Measurement:
        counts = [
            parse(path.read_text(encoding="ascii"), total)
            for path in self._folder.glob(f"*/{name}")
        ]
        if not counts:
            return unsupported(signal, self._entity)
        return Measurement(signal, self._entity, float(sum(counts)))
