"""One GPU, by its PCI slot: a collector of its own; one that hangs or is lost costs only itself."""

import time
from collections.abc import Callable, Container

from exporters.collector import CollectorError, Measurement, failed, unsupported
from exporters.gpu.nvml.api import AbsentError, DriverError, LostError, NvmlError
from exporters.gpu.nvml.library import Library, Session
from exporters.gpu.nvml.signals import GPU
from exporters.gpu.nvml.teller import Teller
from exporters.gpu.nvml.unit import CUTS, SIGNALS, Unit

FIRST_WAIT_SECONDS = 4.0  # for the library, which the node's collector opens


class Card:
    """The GPU in one slot, whichever unit is in it."""

    signals = SIGNALS

    def __init__(
        self,
        node: str,
        address: str,
        library: Library,
        teller: Teller,
        deadline_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"nvml:{address}"
        self.address = address
        self.entity = f"{node}/gpu/{address}"
        self.deadline_seconds = deadline_seconds
        self.lost = False
        self.good_at: float | None = None  # monotonic time of the last good reading
        self._library, self._teller, self._monotonic = library, teller, monotonic
        self._session: Session | None = None
        self._unit: Unit | None = None

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the GPU. Raises CollectorError if it is lost or not there."""
        try:
            session = self._library.session(FIRST_WAIT_SECONDS)
        except AbsentError:
            return self._all(unsupported, due)
        except DriverError:  # said once, by the collector of the node
            return self._all(failed, due)
        return self._read(session, due)

    def _all(
        self, outcome: Callable[[str, str], Measurement], due: Container[str]
    ) -> list[Measurement]:
        return [outcome(signal, self.entity) for signal in GPU if signal in due]

    def _read(self, session: Session, due: Container[str]) -> list[Measurement]:
        try:
            found = self._open(session, due).read(due)
        except DriverError:
            self._library.renew(session.number)
            return self._all(failed, due)
        except LostError as error:
            self.lost, self._unit = True, None
            raise CollectorError(f"the GPU is lost ({error})") from error
        except NvmlError as error:
            raise CollectorError(str(error)) from error
        self.lost, self.good_at = False, self._monotonic()
        return found

    def _open(self, session: Session, due: Container[str]) -> Unit:
        """Return the unit in the slot; after a new session or another UUID it is another one."""
        unit = self._unit
        if unit is None or self._session != session or (CUTS in due and unit.swapped()):
            unit = Unit(self.entity, session.nvml.device(self.address), self._teller)
            self._unit, self._session = unit, session
        return unit
