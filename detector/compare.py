"""How two models differ: coefficients by hardware model, spreads by signal, and the alarms."""

import math

import msgspec
import numpy as np

from detector.bundle import Model, Numbers
from detector.families.context import LOADS, SIZE

LEAST_LOG = 1e-9


class Change(msgspec.Struct, frozen=True):
    """One number of both models; `ratio` is new / old - 1."""

    what: str
    of: str
    old: float
    new: float
    ratio: float


def compare(old: Model, new: Model) -> list[Change]:
    """Return what both models know, the largest relative change first."""
    one, two = (
        {"gain (per load unit)": _gains(own), "spread": _spreads(own)} for own in (old, new)
    )
    found = [
        Change(what, of, one[what][of], two[what][of], two[what][of] / one[what][of] - 1)
        for what in one
        for of in one[what]
        if of in two[what] and abs(one[what][of]) > LEAST_LOG
    ]
    return sorted(found, key=lambda own: (-abs(_log(own)), own.what, own.of))


def _log(change: Change) -> float:
    ratio = change.new / change.old
    return math.log(ratio) if ratio > 0 else math.inf


def _gains(model: Model) -> dict[str, float]:
    """Return the sum of the coefficients of load by pool: kelvin per 100 W, and the like."""
    pools = zip(model.arrays.context_pools.tolist(), model.arrays.context_pool_sums, strict=True)
    return {name: _gain(sums) for name, sums in pools}


def _gain(sums: Numbers) -> float:
    within, moment = sums[: SIZE**2].reshape(SIZE, SIZE), sums[SIZE**2 : SIZE**2 + SIZE]
    hold = np.diag(1e-3 * np.maximum(np.diag(within), 1e-6))
    beta = np.linalg.solve(within + hold, moment)
    return float(beta[LOADS].sum())


def _spreads(model: Model) -> dict[str, float]:
    names, values = model.arrays.spread_signals.tolist(), model.arrays.spread_median.tolist()
    return dict(zip(names, values, strict=True))
