"""NVIDIA accelerators by the driver's library (NVML): how many are there; each is a collector."""

import logging
import time
from collections.abc import Callable, Container

from exporters.collector import Collector, CollectorError, Host, Measurement, unsupported
from exporters.gpu.nvml.api import AbsentError, NvmlError
from exporters.gpu.nvml.card import Card
from exporters.gpu.nvml.library import Library
from exporters.gpu.nvml.teller import Teller
from exporters.gpu.nvml.unit import SIGNALS
from exporters.gpu.nvml.xids import Xids
from exporters.host import parts
from exporters.outlet import Outlet
from exporters.streams import Stream

logger = logging.getLogger(__name__)
PRESENT, EXPECTED, AGE = "node_gpus_present", "node_gpus_expected", "gpu_last_reading_age_seconds"


class Nvml:
    """The node as the driver sees it. It opens the library, which may take long the first time.

    The slots are those of sysfs, where a GPU that the driver lost is still seen.
    """

    name = "nvml"
    signals = (PRESENT, EXPECTED, AGE)
    part_signals = SIGNALS
    deadline_seconds = 30.0

    def __init__(
        self,
        host: Host,
        library: Library | None = None,
        card_deadline_seconds: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host, self._monotonic = host, monotonic
        self._library, self._teller = library or Library(), Teller()
        self._cards = [
            Card(host.entity, address, self._library, self._teller, card_deadline_seconds)
            for address in parts.gpus(host)
        ]
        self._expected = len(self._cards)
        self._told = False

    def parts(self) -> list[Collector]:
        """Return the collector of each GPU."""
        return list(self._cards)

    def stream(self, outlet: Outlet) -> Stream:
        """Return the source of Xid events."""
        self._teller.attach(outlet)
        return Xids(
            {card.address: card.entity for card in self._cards}, self._library, self._teller
        )

    def read(self, due: Container[str]) -> list[Measurement]:
        """Count the GPUs. Raises CollectorError if the driver does not answer."""
        if not any(signal in due for signal in self.signals):
            return []
        try:
            present = self._present()
        except AbsentError as error:
            self._tell(error)
            counts = (PRESENT, EXPECTED)
            return [unsupported(signal, self._host.entity) for signal in counts if signal in due]
        except NvmlError as error:
            raise CollectorError(str(error)) from error
        self._told = False
        self._expected = max(self._expected, present)
        values = ((PRESENT, present), (EXPECTED, self._expected))
        found = [Measurement(s, self._host.entity, float(v)) for s, v in values if s in due]
        return found + (self._ages() if AGE in due else [])

    def _present(self) -> int:
        """Return how many GPUs the driver can open, less those that turned out to be lost."""
        session = self._library.open()
        try:
            slots = session.nvml.slots()
        except NvmlError:
            self._library.renew(session.number)
            raise
        return len(slots - {card.address for card in self._cards if card.lost})

    def _ages(self) -> list[Measurement]:
        now = self._monotonic()
        ages = ((card.entity, card.good_at) for card in self._cards)
        return [Measurement(AGE, entity, now - at) for entity, at in ages if at is not None]

    def _tell(self, error: NvmlError) -> None:
        """Say once that there is no library; without GPUs that is the ordinary case."""
        if not self._told:
            level = logging.WARNING if self._cards else logging.INFO
            logger.log(level, "%s: signals of its GPUs are unsupported", error)
        self._told = True
