"""Frames joined into waves: one sample per series, one array operation for all of them.

In a wave each (node, source) appears at most once; order is canonical, so results do not depend
on the order of arrival. A wave that covers most of a block runs over the whole block in place,
a thin one over gathered rows: the arithmetic is the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from detector.decode import Item
from detector.series import F64, Block, Bool, Ints, Series, Wave, measure
from detector.telling import Telling
from forewarn.records import Outcome

DENSE = 0.3  # share of a block from which on it is run over as a whole
BIGGEST = 1e30  # float32 statistics end near 3e38; readings beyond this are cut
Refuse = Callable[[Item, str], None]  # told of each (frame, signal) with a value that may not be


def rounds(items: list[Item]) -> Iterator[list[Item]]:
    """Split frames so that each stream appears once in each round, in its own order."""
    left: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda i: (i.stream, i.seconds, i.frame.seq)):
        left[item.stream].append(item)
    deepest = max((len(own) for own in left.values()), default=0)
    for turn in range(deepest):
        yield [own[turn] for own in left.values() if turn < len(own)]


class Waves:
    """Makes waves of rounds; counts samples that have no usable value."""

    def __init__(self, series: Series, telling: Telling, refuse: Refuse) -> None:
        self._series, self._telling, self._refuse = series, telling, refuse

    def of(self, items: list[Item]) -> Iterator[Wave]:
        """Give one wave for each block that the frames of a round touch."""
        by_block: dict[int, list[tuple[Item, int]]] = defaultdict(list)
        for item in items:
            for number, part in enumerate(item.plan.parts):
                by_block[part.block].append((item, number))
        for number in sorted(by_block):
            yield self._wave(self._series.blocks[number], by_block[number])

    def _wave(self, block: Block, parts: list[tuple[Item, int]]) -> Wave:
        rows = np.concatenate([item.plan.parts[n].local for item, n in parts])
        counts = [len(item.plan.parts[n].local) for item, n in parts]
        raw = np.concatenate([_values(item, n) for item, n in parts])
        good = self._good(block, rows, raw, parts)
        time = np.repeat([item.seconds for item, _ in parts], counts)
        boot = np.repeat([item.rebooted for item, _ in parts], counts)
        self._telling.samples.inc(int(good.sum()))
        raw = np.where(good, np.clip(raw, -BIGGEST, BIGGEST), 0.0)
        if len(rows) >= DENSE * block.used:
            return _dense(block, rows, raw, good, time, boot)
        return measure(block, rows, raw, good, time, boot)

    def _good(self, block: Block, rows: Ints, raw: F64, parts: list[tuple[Item, int]]) -> Bool:
        """Say which positions hold a usable number."""
        outcome = np.concatenate([_outcome(item, n) for item, n in parts])
        good = outcome == Outcome.OK
        finite = np.isfinite(raw)
        wrong = good & ~finite & ~block.may_be_nan[rows]
        if wrong.any():
            self._tell_wrong(block, rows, wrong, parts)
        # Exactly there: a wide counter of the same signal passes the end of a narrow one.
        stopped = good & finite & block.counter[rows] & (raw == block.saturates[rows])
        if stopped.any():
            self._telling.failed.labels("saturated").inc(int(stopped.sum()))
        failed = int((outcome == Outcome.FAILED).sum())
        if failed:
            self._telling.failed.labels("failed").inc(failed)
        usable: Bool = good & finite & ~stopped
        return usable

    def _tell_wrong(
        self, block: Block, rows: Ints, wrong: Bool, parts: list[tuple[Item, int]]
    ) -> None:
        self._telling.failed.labels("bad_value").inc(int(wrong.sum()))
        ends = np.cumsum([len(item.plan.parts[n].local) for item, n in parts])
        for at in np.flatnonzero(wrong):
            item, _ = parts[int(np.searchsorted(ends, at, side="right"))]
            self._refuse(item, block.signal(int(rows[at])).name)


def _values(item: Item, number: int) -> F64:
    values = np.frombuffer(item.frame.values, "<f8")
    positions = item.plan.parts[number].positions
    return values if positions is None else values[positions]


def _outcome(item: Item, number: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    part = item.plan.parts[number]
    if not item.frame.outcome:
        return np.zeros(len(part.local), np.uint8)
    outcome = np.frombuffer(item.frame.outcome, np.uint8)
    return outcome if part.positions is None else outcome[part.positions]


def _dense(block: Block, rows: Ints, raw: F64, good: Bool, time: F64, boot: Bool) -> Wave:
    """Spread a wave over its whole block; rows that are not in it are masked."""
    used = block.used
    full_raw, full_time = np.zeros(used), np.zeros(used)
    full_good, full_boot = np.zeros(used, np.bool_), np.zeros(used, np.bool_)
    full_raw[rows], full_time[rows], full_good[rows], full_boot[rows] = raw, time, good, boot
    return measure(block, slice(0, used), full_raw, full_good, full_time, full_boot)
