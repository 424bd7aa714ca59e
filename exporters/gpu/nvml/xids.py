"""Xid errors, from NVML's event set: each once and in order, which polling for the last is not."""

import logging
import threading
from collections.abc import Mapping
from typing import Any

from exporters.gpu.nvml.api import AbsentError, Device, DriverError, NvmlError, SilentError
from exporters.gpu.nvml.library import Library, Session
from exporters.gpu.nvml.reasons import Happening
from exporters.gpu.nvml.slices import NONE
from exporters.gpu.nvml.teller import Teller
from exporters.host import xid

logger = logging.getLogger(__name__)
XID = 0x8  # nvmlEventTypeXidCriticalError
WAIT_MILLISECONDS = 500
RETRY_SECONDS = 1.0


class Xids:
    """Waits for Xid events of the GPUs in `slots`: PCI address -> entity."""

    def __init__(self, slots: Mapping[str, str], library: Library, teller: Teller) -> None:
        self._slots, self._library, self._teller = slots, library, teller
        self._entities: dict[int, str] = {}  # by handle; a lost GPU does not tell its slot
        self._told = ""

    def run(self, stop: threading.Event) -> None:
        """Wait until `stop`; while there is no driver, look again from time to time."""
        while not stop.is_set():
            try:
                self._follow(self._library.session(RETRY_SECONDS), stop)
            except (AbsentError, DriverError):  # said by the collector of the node
                stop.wait(RETRY_SECONDS)
            except NvmlError as error:
                self._tell(str(error))
                stop.wait(RETRY_SECONDS)

    def _follow(self, session: Session, stop: threading.Event) -> None:
        """Wait in one session, until it is over. Raises NvmlError."""
        events = session.nvml.ask("nvmlEventSetCreate")
        self._register(session, events)
        self._tell("")
        while not stop.is_set() and self._library.session(0.0) == session:
            try:
                data = session.nvml.ask("nvmlEventSetWait_v2", events, WAIT_MILLISECONDS)
            except SilentError:
                continue
            except DriverError:
                self._library.renew(session.number)
                raise
            self._take(session, data)
        if self._library.session(0.0) == session:
            session.nvml.ask("nvmlEventSetFree", events)

    def _register(self, session: Session, events: Any) -> None:
        self._entities = {}
        for address, entity in self._slots.items():
            try:
                device = session.nvml.device(address)
                device.ask("nvmlDeviceRegisterEvents", XID, events)
            except DriverError:
                raise
            except NvmlError as error:
                logger.warning("no Xid events of the GPU at %s: %s", address, error)
            else:
                self._entities[device.key()] = entity

    def _take(self, session: Session, data: Any) -> None:
        entity = self._entities.get(Device(session.nvml, data.device).key())
        if data.eventType != XID or entity is None:
            return
        code = int(data.eventData)
        where = "" if data.gpuInstanceId == NONE else f", GPU instance {data.gpuInstanceId}"
        what = Happening(f"nvidia.xid:{code}", xid.severity(code), f"Xid {code}{where}")
        self._teller.events(entity, [what])

    def _tell(self, problem: str) -> None:
        if problem and problem != self._told:
            logger.warning("no Xid events by NVML: %s", problem)
        self._told = problem
