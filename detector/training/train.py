"""Trains a model: recordings through the whole detector, tables through its families."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import msgspec
import numpy as np
from prometheus_client import CollectorRegistry

from detector.bundle import Card, Model
from detector.engine import Engine
from detector.families import Families
from detector.families.context import FEATURES
from detector.series import Series
from detector.training import tidy
from detector.training.collect import collect
from detector.training.confirmed import Confirmed
from detector.training.course import Course
from detector.training.learner import CLUSTER, Learner
from detector.training.seasons import Seasons
from forewarn import __version__, recording
from forewarn.deadletter import DeadLetters
from forewarn.errors import ForewarnError
from forewarn.inventory import Inventory
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, InventoryItem

RECORDING = ".fwrec"
Progress = Callable[[str, float], None]  # the file, and the time (Unix seconds) that was reached


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, and what was of no use."""

    rows: int
    unusable: int
    """Rows without time, name or number; messages that could not be decoded."""
    late: int
    """Rows older than what was learned before them: give files in the order of time."""
    unknown: dict[str, int]
    """Signals that the catalogue does not have, with their rows."""
    confirmed: int = 0
    """Readings left out because a confirmed incident held their device."""


class NothingLearnedError(ForewarnError):
    """There was nothing to learn from."""

    exit_code = 3


def train(
    paths: Sequence[Path], inventory: Path | None, progress: Progress,
    incidents: Path | None = None,
) -> tuple[Model, Report]:  # fmt: skip
    """Learn from files in the order of time; all of them recordings, or all of them tables.

    What the confirmed ones of `incidents` (a file of JSON lines) held is left out.

    Raises:
        ForewarnError: if a file cannot be read or holds nothing to learn from.

    """
    recordings = [path.suffix == RECORDING for path in paths]
    if any(recordings) and not all(recordings):
        raise ForewarnError("train: give either recordings (.fwrec) or tables, not both at once")
    confirmed = Confirmed() if incidents is None else Confirmed.read(incidents)
    if all(recordings):
        return _from_recordings(paths, confirmed, progress)
    return _from_tables(paths, _inventory(inventory), confirmed, progress)


def _from_recordings(
    paths: Sequence[Path], confirmed: Confirmed, progress: Progress
) -> tuple[Model, Report]:
    registry, bus = CollectorRegistry(), MemoryBus()
    heads = {path: recording.head(path) for path in paths}
    cluster = next(iter(heads.values())).cluster
    engine = Engine(cluster, registry, DeadLetters(bus.producer(), "train", registry))
    course, count = Course(engine.families.tails), 0
    for path in sorted(paths, key=lambda own: heads[own].time_unix_nano):
        seconds = groupby(recording.read(path), lambda m: m.append_time_unix_nano // NANOSECONDS)
        for second, messages in seconds:
            batch = [confirmed.message(own) for own in messages]
            count += len(batch)
            course.found(engine.feed(batch))
            course.at(float(second))
            progress(path.name, float(second))
    course.found(engine.flush())
    refused = bus.consumer(("deadletter",), None, from_beginning=("deadletter",)).poll(0.0, 10**6)
    model = _model(paths, engine.series, engine.families, course, Seasons(), count)
    return model, Report(
        rows=count, unusable=len(refused), late=0, unknown={}, confirmed=confirmed.left_out
    )


def _from_tables(
    paths: Sequence[Path], inventory: Inventory, confirmed: Confirmed, progress: Progress
) -> tuple[Model, Report]:
    learner, seasons, unknown = Learner(inventory), Seasons(), dict[str, int]()
    course, count, unusable = Course(learner.families.tails), 0, 0
    for path in paths:
        rows = confirmed.rows(tidy.read(path))
        seasons.add(rows.names, rows.which, rows.seconds, rows.values)
        slots = learner.place(rows.names)
        for instant in tidy.instants(rows):
            course.found(learner.take(instant, slots))
            course.at(float(instant.second))
            progress(path.name, float(instant.second))
        count, unusable = count + len(rows.values), unusable + rows.unusable
        for name, own in rows.unknown.items():
            unknown[name] = unknown.get(name, 0) + own
    model = _model(paths, learner.series, learner.families, course, seasons, count)
    return model, Report(
        rows=count, unusable=unusable, late=learner.late, unknown=unknown,
        confirmed=confirmed.left_out,
    )  # fmt: skip


def _model(
    paths: Sequence[Path], series: Series, families: Families, course: Course, seasons: Seasons,
    rows: int,
) -> Model:  # fmt: skip
    if not len(series) or not np.isfinite(course.last):
        raise NothingLearnedError("train: the files hold no readings of signals that are known")
    tested = seasons.test()
    used = {name: hours for name, (own, hours) in tested.items() if own.used}
    hour = int(course.last // 3600 % 24)
    validation = course.validation()
    arrays, out = collect(series, families, used, hour)
    card = Card(
        model_id="", made_by=__version__, sources=tuple(path.name for path in paths),
        from_unix_seconds=course.first, until_unix_seconds=course.last, rows=rows,
        series=len(series), entities=len({own for b in series.blocks for own in b.names}),
        context_features=FEATURES, validation=validation, left_out=out,
        seasons={name: own for name, (own, _) in tested.items()},
    )  # fmt: skip
    return Model(card, arrays)


def _inventory(path: Path | None) -> Inventory:
    """Read a CSV of attributes: a column `entity`, any others are attributes (`model`, `rack`)."""
    inventory = Inventory()
    if path is None:
        return inventory
    for entity, attributes in tidy.attributes(path).items():
        inventory.apply(InventoryItem(CLUSTER, entity, 0, attributes))
    return inventory
