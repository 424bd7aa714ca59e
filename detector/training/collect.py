"""What the families learned becomes the arrays of a model; what disagrees with all is left out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.bundle import Arrays
from detector.families import Families, floors
from detector.families.band import WARM_SECONDS
from detector.families.context import LOADS
from detector.families.ridge import LEAST_SAMPLES
from detector.series import SIGNALS, Block, Series
from detector.verdict.tails import BINS

# A device whose resistance is this many robust spreads from its model's was faulty all along.
OUTLYING, LEAST_SPREAD, LEAST_MEMBERS = 6.0, 0.05, 6
Seasons = dict[str, NDArray[np.float64]]


def collect(
    series: Series, families: Families, seasons: Seasons, hour: int
) -> tuple[Arrays, tuple[str, ...]]:
    """Return the arrays of a model, and the series that were left out of it.

    `seasons` are hours by signal; `hour` (UTC) is when learning ended.
    """
    _solve(series.blocks, families)
    out = _outliers(series.blocks, families)
    arrays = Arrays(**_context(series.blocks, families, out),
                    **_band(series.blocks, families, seasons, hour), **_tails(families),
                    season_signals=_words(list(seasons)),
                    season_hours=_rows(list(seasons.values()), 24))  # fmt: skip
    return arrays, tuple(f"{name} {entity}" for name, entity in out)


def _solve(blocks: Sequence[Block], families: Families) -> None:
    for block in blocks:
        ridge = families.context.state(block).ridge
        ridge.drain()
        ridge.solve()


def _outliers(blocks: Sequence[Block], families: Families) -> list[tuple[str, str]]:
    """Find series whose coefficients no twin of the same pool has."""
    gains: dict[int, list[tuple[float, str, str]]] = {}
    for block in blocks:
        state = families.context.state(block)
        enough = state.ridge.committed[:, -3] >= LEAST_SAMPLES
        for at in np.flatnonzero(enough):
            local, pool = int(state.targets[at]), int(state.ridge.pool[at])
            gain = float(np.abs(state.ridge.beta[at, LOADS].sum()))
            gains.setdefault(pool, []).append((gain, block.signal(local).name, block.entity(local)))
    found: list[tuple[str, str]] = []
    for own in gains.values():
        values = np.array([gain for gain, _, _ in own])
        middle = np.median(values)
        spread = max(1.4826 * float(np.median(np.abs(values - middle))), LEAST_SPREAD * middle)
        far = np.abs(values - middle) > OUTLYING * spread
        if len(own) >= LEAST_MEMBERS:
            found += [own[int(at)][1:] for at in np.flatnonzero(far)]
    return sorted(found)


def _context(
    blocks: Sequence[Block], families: Families, out: list[tuple[str, str]]
) -> dict[str, Any]:
    left, names, rows, ages = set(out), [], [], []
    sums: dict[int, NDArray[np.float64]] = {}
    for block in blocks:
        state = families.context.state(block)
        keys = [(block.signal(int(own)).name, block.entity(int(own))) for own in state.targets]
        state.ridge.clear(np.array([key in left for key in keys], np.bool_))
        for number, own in state.ridge.pool_sums().items():
            sums[number] = sums.get(number, 0.0) + own
        for at in np.flatnonzero(state.ridge.committed[:, -3] >= LEAST_SAMPLES):
            names.append(keys[int(at)])
            rows.append(state.ridge.committed[at])
            ages.append(state.ridge.minutes[at])
    pools = {number: name for name, number in families.context.pools().items()}
    width = len(next(iter(sums.values()))) if sums else 0
    kept = sorted(number for number in sums if sums[number][-3] >= LEAST_SAMPLES)
    return {
        "context_pools": _words([pools[number] for number in kept]),
        "context_pool_sums": _rows([sums[number] for number in kept], width),
        "context_signals": _words([name for name, _ in names]),
        "context_entities": _words([entity for _, entity in names]),
        "context_equations": _rows(rows, width).astype(np.float32),
        "context_minutes": np.array(ages, np.float32),
    }


def _band(
    blocks: Sequence[Block], families: Families, seasons: Seasons, hour: int
) -> dict[str, Any]:
    """Keep levels that no job explains, and the usual spread of every signal."""
    names: list[tuple[str, str]] = []
    values: list[tuple[float, float, float]] = []
    spreads: dict[str, list[float]] = {}
    for block in blocks:
        state, used = families.band.state(block), slice(0, block.used)
        warm = state.banded[used] & (state.minutes[used] * 60 >= WARM_SECONDS)
        for local in np.flatnonzero(warm):
            name = block.signal(int(local)).name
            spreads.setdefault(name, []).append(float(state.spread[local]))
            if name not in floors.LOAD:
                names.append((name, block.entity(int(local))))
                of_hour = float(seasons[name][hour]) if name in seasons else 0.0
                values.append((float(state.centre[local]) - of_hour, float(state.spread[local]),
                               float(state.minutes[local])))  # fmt: skip
    columns = _rows([np.array(own) for own in values], 3).astype(np.float32)
    return {
        "band_signals": _words([name for name, _ in names]),
        "band_entities": _words([entity for _, entity in names]),
        "band_centre": columns[:, 0], "band_spread": columns[:, 1], "band_minutes": columns[:, 2],
        "spread_signals": _words(sorted(spreads)),
        "spread_median": np.array([np.median(spreads[name]) for name in sorted(spreads)],
                                  np.float32),
    }  # fmt: skip


def _tails(families: Families) -> dict[str, Any]:
    counts = families.tails.counts
    seen = np.flatnonzero(counts.any(axis=1))
    return {
        "tail_signals": _words([SIGNALS[int(at)].name for at in seen]),
        "tail_counts": counts[seen].reshape(-1, BINS),
    }


def _words(own: list[str]) -> NDArray[np.str_]:
    return np.array(own, np.str_) if own else np.zeros(0, "U1")


def _rows(own: Sequence[NDArray[np.floating]], width: int) -> NDArray[np.float64]:
    return np.array(own, np.float64).reshape(len(own), width)
