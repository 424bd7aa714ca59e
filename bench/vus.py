"""VUS-PR: the area under precision and recall, averaged over how far a label's edges are blurred.

The definition is that of Paparrizos et al., "Volume Under the Surface" (VLDB 2022), in the form
that TSB-AD reports (`generate_curve`, version `opt`): thresholds are even in rank, recall is the mean of
points found and labels touched, and a point within half a window of an event counts in part.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Runs = NDArray[np.int64]  # [event, (first, last)], both inclusive


def vus_pr(
    label: NDArray[np.int64], score: Floats, window: int = 100, thresholds: int = 250
) -> float:
    """Return VUS-PR in [0, 1] of a score of each point against labels of 0 and 1.

    `window` is the widest blur, in points. Raises ValueError if nothing is labelled.
    """
    found = runs(label)
    if not len(found):
        raise ValueError("nothing is labelled")
    order = np.argsort(-score, kind="stable")
    levels = score[order][np.linspace(0, len(score) - 1, thresholds).astype(np.int64)]
    predicted = np.searchsorted(-score[order], -levels, side="right")
    areas = [_area(label, found, score, order, levels, predicted, width, window)
             for width in range(window + 1)]  # fmt: skip
    return float(np.mean(areas))


def runs(label: NDArray[np.int64]) -> Runs:
    """Return first and last point of each run of ones."""
    edges = np.diff(np.concatenate([[0], label != 0, [0]]).astype(np.int64))
    return np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1])


def _area(
    label: NDArray[np.int64], found: Runs, score: Floats, order: Runs, levels: Floats,
    predicted: Runs, width: int, window: int,
) -> float:  # fmt: skip
    """Return the area under precision and recall for one width of the blur."""
    blurred = _blur(label, found, width)
    near = _inside(_joined(found, width=window, size=len(label)), len(label))
    # Beyond the labelled points a point weighs only where it is predicted.
    weights = np.where(label != 0, 1.0, blurred) * near
    hits = np.cumsum(weights[order])[predicted - 1]
    outer = np.where(label != 0, 0.0, blurred) * near
    labels = label.sum() + np.cumsum(outer[order])[predicted - 1]
    recall = np.minimum(hits / ((label.sum() + labels) / 2), 1)
    recall *= _touched(_joined(found, width=width, size=len(label)), score, levels)
    height = hits / predicted
    return float((np.diff(recall, prepend=0.0) * height).sum())


def _blur(label: NDArray[np.int64], found: Runs, width: int) -> Floats:
    """Let labels fade out over half a width on both sides, as sqrt(1 - distance / width)."""
    blurred, half = label.astype(np.float64), width // 2
    for first, last in found:
        after = np.arange(last + 1, min(last + half + 1, len(label)))
        before = np.arange(max(first - half, 0), first)
        blurred[after] += np.sqrt(1 - (after - last) / width) if width else 0
        blurred[before] += np.sqrt(1 - (first - before) / width) if width else 0
    return np.minimum(blurred, 1)


def _joined(found: Runs, width: int, size: int) -> Runs:
    """Widen events by half a width and join those that then touch."""
    half, out = width // 2, []
    first = max(int(found[0, 0]) - half, 0)
    for (_, last), (start, _) in pairwise(found):
        if last + half < start - half:
            out.append((first, last + half))
            first = start - half
    out.append((first, min(int(found[-1, 1]) + half, size - 1)))
    return np.array(out, np.int64)


def _inside(found: Runs, size: int) -> NDArray[np.bool_]:
    inside = np.zeros(size, np.bool_)
    for first, last in found:
        inside[first : last + 1] = True
    return inside


def _touched(found: Runs, score: Floats, levels: Floats) -> Floats:
    """Return for each threshold the share of events in which a point reaches it."""
    best = np.sort([score[first : last + 1].max() for first, last in found])
    share: Floats = 1 - np.searchsorted(best, levels, side="left") / len(best)
    return share
