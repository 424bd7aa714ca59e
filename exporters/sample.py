"""A reading as people and programs see it: `forewarn agent --once --json`."""

import datetime as dt

import msgspec

from exporters.collector import Measurement
from forewarn.catalogue import CATALOGUE
from forewarn.records import NANOSECONDS, Outcome


class Sample(msgspec.Struct, frozen=True):
    """One measurement with its time (RFC 3339, UTC) and unit; `value` is None unless it is ok."""

    time: str
    entity: str
    signal: str
    value: float | None
    unit: str
    outcome: str


def sample(measurement: Measurement, time_unix_nano: int) -> Sample:
    """Make the sample of a measurement that was read at that time."""
    moment = dt.datetime.fromtimestamp(time_unix_nano / NANOSECONDS, dt.UTC)
    good = measurement.outcome is Outcome.OK
    return Sample(
        time=moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        entity=measurement.entity,
        signal=measurement.signal,
        value=measurement.value if good else None,
        unit=CATALOGUE[measurement.signal].unit,
        outcome=measurement.outcome.name.lower(),
    )
