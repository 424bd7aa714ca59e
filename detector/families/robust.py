"""Median and spread of many small groups at once: rows of a matrix, NaN where nobody is.

Groups of like size stand in one matrix, padded to a power of two, so that one sort serves all; a
few small groups stand among the larger ones, since each matrix costs as much as some padding.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.series import F32, Bool, Ints

Slots = NDArray[np.int32]  # memory counts
FEW = 4096  # members of a matrix, nobodies among them: with fewer it is not worth one of its own
TO_SIGMA = 1.4826  # median absolute deviation to standard deviation, of a normal distribution


class Comparison(NamedTuple):
    """Each member against its group: `middle` and `members` by row, the rest by member."""

    middle: F32
    members: Ints
    away: F32
    scale: F32


def median(values: F32, count: Ints) -> F32:
    """Return the median of each row; `count` are its numbers, the rest is NaN."""
    ordered = np.sort(values, axis=1)
    row = np.arange(len(values))
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
    found: F32 = (ordered[row, low] + ordered[row, high]) / 2
    return found


def compare(values: F32, least: Callable[[F32], F32]) -> Comparison:
    """Return how far each member is from its row's median, and the row's robust scale.

    `least` says from the medians which scale of each row is the smallest that counts, in the unit
    of the values: twins without any spread of their own are held to it.
    """
    count = (~np.isnan(values)).sum(axis=1)
    middle = median(values, count)
    away = values - middle[:, None]
    scale = np.maximum(TO_SIGMA * median(np.abs(away), count), least(middle))
    return Comparison(middle, count, away, scale)


def matrices(slots: Ints, group: Ints) -> list[Slots]:
    """Lay out groups as matrices of slots, a row a group, -1 where nobody is."""
    order = np.lexsort((slots, group))
    _, starts, sizes = np.unique(group[order], return_index=True, return_counts=True)
    widths = _widths(sizes)
    return [
        _matrix(slots[order], starts[widths == width], sizes[widths == width], int(width))
        for width in np.unique(widths)
    ]


def _widths(sizes: Ints) -> Ints:
    """Return the width of each group's matrix: its size up to a power of two, or the next one's."""
    widths: Ints = 1 << np.ceil(np.log2(np.maximum(sizes, 2))).astype(np.int64)
    known = np.unique(widths)
    for width, larger in pairwise(known):
        own = widths == width
        if own.sum() * larger < FEW:
            widths[own] = larger
    return widths


def _matrix(slots: Ints, starts: Ints, sizes: Ints, width: int) -> Slots:
    inside: Bool = np.arange(width)[None, :] < sizes[:, None]
    at = (starts[:, None] + np.arange(width)[None, :])[inside]
    found = np.full(inside.shape, -1, np.int32)
    found[inside] = slots[at]
    return found
