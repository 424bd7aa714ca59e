"""NVLink: errors of each link and of all, links that are up against those that should be."""

import operator
from collections.abc import Callable, Container, Iterable
from itertools import groupby

from exporters.collector import Measurement, unsupported
from exporters.gpu.nvml.api import Device, LackingError
from exporters.gpu.nvml.fields import CRC_DATA, CRC_FLIT, RECOVERY, REPLAY, Field
from exporters.gpu.nvml.gpm import Pair
from exporters.gpu.nvml.sources import Call, FieldValue, Of, Source
from exporters.gpu.nvml.values import Row, Values
from forewarn.records import Outcome

STATE = "state"  # of one link; ours, no signal of the catalogue
_UP = {1, 2}  # NVML_NVLINK_STATE_ACTIVE, _SLEEP (an idle link saves power)


def _crc(link: int) -> tuple[Source, ...]:
    before = _legacy(link, CRC_FLIT, CRC_DATA)
    return (_of(link, Field.NVLINK_ERROR_DL_CRC), *before, _of(link, Field.NVLINK_COUNT_RCV_ERRORS))


def _replay(link: int) -> tuple[Source, ...]:
    return (_of(link, Field.NVLINK_ERROR_DL_REPLAY), *_legacy(link, REPLAY))


def _recovery(link: int) -> tuple[Source, ...]:
    newest = _of(link, Field.NVLINK_COUNT_LINK_RECOVERY_EVENTS)
    return (_of(link, Field.NVLINK_ERROR_DL_RECOVERY), *_legacy(link, RECOVERY), newest)


def _fatal(link: int) -> tuple[Source, ...]:
    return (_of(link, Field.NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS),)


def _bit_errors(link: int) -> tuple[Source, ...]:
    return (Of(bit_error_ratio, (_of(link, Field.NVLINK_COUNT_EFFECTIVE_BER),)),)


def _of(link: int, field: Field) -> FieldValue:
    return FieldValue(field, scope=link)


def _legacy(link: int, *tables: tuple[int, ...]) -> tuple[Source, ...]:
    """Return the sum of the fields that a link had before Hopper."""
    if link >= len(tables[0]):
        return ()
    fields = tuple(FieldValue(table[link]) for table in tables)
    return (fields[0],) if len(fields) == 1 else (Of(operator.add, fields),)


def bit_error_ratio(encoded: float) -> float:
    """Return mantissa times ten to the minus exponent: bits 11 to 8, and 7 to 0.

    Source: ctrl2080nvlink.h of the open driver (BER_MANTISSA, BER_EXPONENT).
    """
    number = int(encoded)
    mantissa, exponent = number >> 8 & 0xF, number & 0xFF
    return mantissa * 10.0**-exponent


# Signal -> the sources of one link, and how the links' values become the GPU's.
LINK: dict[str, tuple[Callable[[int], tuple[Source, ...]], Callable[[Iterable[float]], float]]] = {
    "scale_up_crc_errors_total": (_crc, sum),
    "scale_up_replays_total": (_replay, sum),
    "scale_up_recoveries_total": (_recovery, sum),
    "scale_up_fatal_errors_total": (_fatal, sum),
    "scale_up_bit_error_ratio": (_bit_errors, max),
}
COUNTED = ("scale_up_links_up", "scale_up_links_expected", "scale_up_link_downs_total")
SIGNALS = (*LINK, *COUNTED)


class Links:
    """The links of one GPU."""

    def __init__(self, entity: str, device: Device, activity: Pair) -> None:
        self._entity, self._device = entity, device
        count, switched = device.fields(
            [(Field.NVLINK_LINK_COUNT, 0), (Field.NVSWITCH_CONNECTED_LINK_COUNT, 0)]
        )
        self._count = int(count.value) if count.outcome is Outcome.OK else 0
        self._switched = switched.outcome is Outcome.OK and switched.value > 0
        links = range(self._count)
        self._errors = Values(
            [self._row(s, link) for s in LINK for link in links], device, activity
        )
        self._states = Values([_state(link) for link in links], device, activity)
        self._up: dict[int, bool] = {}
        self._most_up = self.downs = 0

    def _row(self, signal: str, link: int) -> Row:
        return Row(signal, f"{self._entity}/link/{link}", LINK[signal][0](link))

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read what is due, for each link and for the GPU. Raises LostError or DriverError."""
        if not self._count:
            return [unsupported(signal, self._entity) for signal in SIGNALS if signal in due]
        found = self._errors.read(due)
        totals = [
            self._total(signal, list(own))
            for signal, own in groupby(sorted(found, key=_signal), key=_signal)
        ]
        # A link without the signal is not worth a series that says so.
        told = [m for m in found if m.outcome is not Outcome.UNSUPPORTED]
        return [*told, *totals, *self._counts(due)]

    def _total(self, signal: str, own: list[Measurement]) -> Measurement:
        for outcome in (Outcome.FAILED, Outcome.UNSUPPORTED):
            if any(m.outcome is outcome for m in own):
                return Measurement(signal, self._entity, outcome=outcome)
        return Measurement(signal, self._entity, float(LINK[signal][1](m.value for m in own)))

    def _counts(self, due: Container[str]) -> list[Measurement]:
        if not any(signal in due for signal in COUNTED):
            return []
        states = self._states.read({STATE})
        if any(m.outcome is not Outcome.OK for m in states):
            outcome = max(m.outcome for m in states)
            return [Measurement(s, self._entity, outcome=outcome) for s in COUNTED if s in due]
        self._follow({int(m.entity): m.value in _UP for m in states})
        values = (sum(self._up.values()), self._expected(), self.downs)
        pairs = zip(COUNTED, values, strict=True)
        return [Measurement(s, self._entity, float(value)) for s, value in pairs if s in due]

    def _follow(self, up: dict[int, bool]) -> None:
        self.downs += sum(self._up.get(link, False) and not now for link, now in up.items())
        self._up = up
        self._most_up = max(self._most_up, sum(up.values()))

    def _expected(self) -> int:
        """Return how many links should be up: all in a switched domain, else the most ever seen.

        Cards joined by bridges, or by nothing, have links that lead nowhere.
        """
        return self._count if self._switched or self._in_fabric() else self._most_up

    def _in_fabric(self) -> bool:
        try:
            return bool(self._device.ask("nvmlDeviceGetGpuFabricInfoV").state > 0)
        except LackingError:
            return False


def _state(link: int) -> Row:
    return Row(STATE, str(link), (_of(link, Field.NVLINK_GET_STATE),
                                  Call("nvmlDeviceGetNvLinkState", (link,))))  # fmt: skip


def _signal(measurement: Measurement) -> str:
    return measurement.signal
