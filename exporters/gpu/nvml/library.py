"""The life of the library in this process: opened once, shared by all readers, renewed when the
driver was.
"""

import contextlib
import threading
import time
from collections.abc import Callable

import msgspec

from exporters.gpu.nvml import api
from exporters.gpu.nvml.api import AbsentError, DriverError, Nvml, NvmlError

RETRY_SECONDS = 60.0


class Session(msgspec.Struct, frozen=True):
    """The library while one driver is loaded; a handle is good for its session only."""

    nvml: Nvml
    number: int


class Library:
    """Safe for threads. One of them opens, which may take seconds; the others wait a little."""

    def __init__(
        self,
        load: Callable[[], Nvml] = api.load,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load, self._monotonic = load, monotonic
        self._lock = threading.Lock()
        self._tried = threading.Event()
        self._session: Session | None = None
        self._problem: NvmlError = DriverError("the NVIDIA driver has not answered yet")
        self._opened = 0
        self._initialised = False
        self._retry_at = 0.0

    def open(self) -> Session:
        """Open the library if it is not, at most once a minute; for one calling thread.

        Raises AbsentError or DriverError (also while the next try is not due).
        """
        if self._session is None and self._monotonic() >= self._retry_at:
            self._retry_at = self._monotonic() + RETRY_SECONDS
            self._try()
        return self.session(0.0)

    def _try(self) -> None:
        try:
            nvml = self._load()
            self._begin(nvml)
        except AbsentError as error:
            self._problem = error
        except NvmlError as error:
            every = f"tried again every {RETRY_SECONDS:g} s"
            self._problem = DriverError(f"the NVIDIA driver cannot be used ({error}); {every}")
        else:
            with self._lock:
                self._opened += 1
                self._session = Session(nvml, self._opened)
        finally:
            self._tried.set()

    def _begin(self, nvml: Nvml) -> None:
        if self._initialised:
            with contextlib.suppress(DriverError):
                nvml.ask("nvmlShutdown")  # else the state of the old driver stays
            self._initialised = False
        nvml.ask("nvmlInit")
        self._initialised = True

    def session(self, seconds: float) -> Session:
        """Return the session, waiting as long for the very first try. Raises NvmlError."""
        self._tried.wait(seconds)
        with self._lock:
            if self._session is None:
                raise self._problem
            return self._session

    def renew(self, number: int) -> None:
        """The driver of a session does not answer any more: open anew with the next `open`."""
        with self._lock:
            if self._session is not None and self._session.number == number:
                self._session = None
                self._problem = DriverError("the NVIDIA driver was unloaded")
                self._retry_at = 0.0
