"""Errors of the host's memory, as the kernel's EDAC drivers count them."""

from collections.abc import Container

from exporters.collector import Host, Measurement, unsupported

FILES = {
    "node_memory_ecc_corrected_errors_total": "ce_count",
    "node_memory_ecc_uncorrected_errors_total": "ue_count",
}


class MemoryErrors:
    """Sums over the memory controllers; without one there is nothing that counts errors.

    Source: Documentation/admin-guide/RAS (sysfs /sys/devices/system/edac/mc/mc*).
    """

    name = "memory_errors"
    signals = tuple(FILES)
    deadline_seconds = 2.0

    def __init__(self, host: Host) -> None:
        self._entity = host.entity
        self._folder = host.sys / "devices/system/edac/mc"

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the counts of all controllers."""
        return [self._one(signal, name) for signal, name in FILES.items() if signal in due]

    def _one(self, signal: str, name: str) -> Measurement:
        counts = [
            int(path.read_text(encoding="ascii")) for path in self._folder.glob(f"mc[0-9]*/{name}")
        ]
        if not counts:
            return unsupported(signal, self._entity)
        return Measurement(signal, self._entity, float(sum(counts)))
