"""Who is whose twin: groups of series that should agree, by the catalogue's column `peers`.

`node` same parent (node or switch), `job.stage` same job and pipeline stage, `rack`, `loop`,
`model` the same hardware. Each series stands in the first of its groups that has five members;
what the job makes of a level is compared only within the job.
"""

from collections import defaultdict

import msgspec
import numpy as np

from detector.families import floors
from detector.families.robust import Slots, matrices
from detector.population import Numbers, Population
from detector.series import BLOCK, CLASS, SIGNALS, Bool, Ints, Series
from forewarn import entity as entities
from forewarn.catalogue import Signal
from forewarn.inventory import Inventory

LEAST = 5  # facts: with fewer peers use history
# Of a job of at least LEAST ranks, a pipeline stage may be as small as this: the real trace of a
# slow worker has four ranks a stage, and the other stages say how alike ranks are.
LEAST_STAGE = 3
DIMENSIONS = ("node", "job.stage", "rack", "loop", "model")
WAIT_SECONDS = 10.0  # groups follow series and inventory at most this often
MANY = 20_000  # entities more, so much longer: laying them out costs time
STEP = CLASS["rank_step_seconds"]


class Panel(msgspec.Struct, frozen=True):
    """Groups of one signal: a row a group, -1 where nobody is; `names` of the rows.

    Where the members are ranks: their job by row, and the slots of their step time.
    """

    klass: int
    slots: Slots
    names: tuple[str, ...]
    jobs: tuple[str, ...] = ()
    steps: Slots | None = None

    @property
    def signal(self) -> Signal:
        """Return the catalogue's row."""
        return SIGNALS[self.klass]


class Twins:
    """Keeps the panels of all signals that are compared."""

    def __init__(self, series: Series, inventory: Inventory, people: Population) -> None:
        self._series, self._inventory, self._people = series, inventory, people
        self.panels: tuple[Panel, ...] = ()
        self._version, self._turn = (-1, -1), -1
        self._labels = Labels(inventory)

    def refresh(self, seconds: float, changes: int) -> bool:
        """Lay the groups out anew if series or inventory changed; say whether."""
        version = (self._series.version, changes)
        wait = WAIT_SECONDS * (1 + len(self._people.entities) // MANY)
        turn = int(seconds // wait)  # by the clock, not by when the first was
        if version == self._version or (self.panels and turn == self._turn):
            return False
        self._version, self._turn = version, turn
        self._people.refresh()
        keys = Keys([self._labels.of(own) for own in self._people.entities])
        self.panels = tuple(panel for own in self._classes() for panel in self._lay(*own, keys))
        return True

    def _classes(self) -> list[tuple[int, Ints]]:
        """Return the slots of each signal that is compared."""
        found: dict[int, list[Ints]] = defaultdict(list)
        for block in self._series.blocks:
            klass = block.klass[: block.used]
            for own in np.unique(klass):
                if floors.compared(SIGNALS[own]):
                    found[int(own)].append(np.flatnonzero(klass == own) + block.number * BLOCK)
        return [(own, np.concatenate(parts)) for own, parts in sorted(found.items())]

    def _lay(self, klass: int, slots: Ints, keys: "Keys") -> list[Panel]:
        signal, left, found = SIGNALS[klass], slots, []
        for dimension in _dimensions(signal):
            group = keys.of(dimension, self._people.of_slot[left], floors.follows_job(signal))
            big = _big(group, LEAST)
            if signal.entity == "rank":
                job = keys.of("node", self._people.of_slot[left], False)
                big = _big(group, LEAST_STAGE) & _big(job, LEAST)
            found += [
                self._panel(klass, matrix, dimension, keys)
                for matrix in (matrices(left[big], group[big]) if big.any() else ())
            ]
            left = left[~big]
        return found

    def _panel(self, klass: int, matrix: Slots, dimension: str, keys: "Keys") -> Panel:
        first = [int(self._people.of_slot[row[0]]) for row in matrix]
        names = tuple(keys.name(dimension, own) for own in first)
        if SIGNALS[klass].entity != "rank":
            return Panel(klass, matrix, names)
        jobs = tuple(entities.root(self._people.entities[own]) for own in first)
        return Panel(klass, matrix, names, jobs, self._steps(matrix))

    def _steps(self, matrix: Slots) -> Slots:
        """Return where the step time of each rank stands, -1: not read."""
        flat = [self._step_of(int(slot)) for slot in matrix.ravel()]
        return np.array(flat, np.int32).reshape(matrix.shape)

    def _step_of(self, slot: int) -> int:
        if slot < 0:
            return -1
        found = self._series.find(
            SIGNALS[STEP].name, self._people.entities[self._people.of_slot[slot]]
        )
        return -1 if found is None else found


class Labels:
    """The labels of entities, kept until something changes at their root."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._held: dict[str, tuple[str, int, tuple[str, ...]]] = {}  # root, version, labels

    def of(self, entity: str) -> tuple[str, ...]:
        """Return the label of each dimension, then the job; empty: none."""
        held = self._held.get(entity)
        if held is not None and self._inventory.touched(held[0]) <= held[1]:
            return held[2]
        own = _labels(entity, self._inventory)
        self._held[entity] = (entities.root(entity), self._inventory.version, own)
        return own


class Keys:
    """The groups of every entity, as numbers: -1 where it has none of a dimension."""

    def __init__(self, labels: list[tuple[str, ...]]) -> None:
        self._labels = labels
        self._numbers = {
            dimension: _numbers([own[at] for own in labels])
            for at, dimension in enumerate(DIMENSIONS)
        }
        self._job = _numbers([own[-1] for own in labels])

    def of(self, dimension: str, numbers: Numbers, within_job: bool) -> Ints:
        """Return the group of each entity; with `within_job` only what one job runs on."""
        group = self._numbers[dimension][numbers]
        if not within_job:
            return group
        job = self._job[numbers]
        together: Ints = np.where((group < 0) | (job < 0), -1, group * (self._job.max() + 1) + job)
        return together

    def name(self, dimension: str, number: int) -> str:
        """Return what people call the group of an entity."""
        return f"{dimension} {self._labels[number][DIMENSIONS.index(dimension)]}"


def _dimensions(signal: Signal) -> tuple[str, ...]:
    """Return where twins are looked for, best first: each coolant loop has a normal of its own."""
    looped = "loop" in signal.peers
    return tuple(own for own in signal.peers if not (looped and own == "model"))


def _labels(entity: str, inventory: Inventory) -> tuple[str, ...]:
    """Return the label of each dimension, then the job; empty: none."""
    job = inventory.job_of(entity)
    stage = _stage(entity, job, inventory) if job else ""
    kind = entities.kind(entity)
    model = inventory.attribute(entity, "model") or ""
    above = {entities.kind(own): own for own in inventory.parents(entity)}
    node = entities.root(entity) if entities.parent(entity) else ""
    return (node, stage, above.get("rack", ""), above.get("cdu", ""),
            f"{kind} {model}" if model else "", job)  # fmt: skip


def _stage(entity: str, job: str, inventory: Inventory) -> str:
    """Return job and pipeline stage of what runs on an entity; a mixture has no stage."""
    ranks = {entity} if entities.kind(entity) == "rank" else inventory.ranks_on(entity)
    placed = [item.placement for own in ranks if (item := inventory.get(own)) is not None]
    stages = {own.stage for own in placed if own is not None}
    stage = next(iter(stages)) if len(stages) == 1 else None
    return f"{job}" if stage is None else f"{job} stage {stage}"


def _numbers(labels: list[str]) -> Ints:
    known: dict[str, int] = {}
    found = [known.setdefault(own, len(known)) if own else -1 for own in labels]
    return np.array(found, np.int64)


def _big(group: Ints, least: int) -> Bool:
    """Say which members stand in a group that is large enough."""
    if not (group >= 0).any():
        return np.zeros(len(group), np.bool_)
    _, inverse, counts = np.unique(group, return_inverse=True, return_counts=True)
    found: Bool = (group >= 0) & (counts[inverse] >= least)
    return found
