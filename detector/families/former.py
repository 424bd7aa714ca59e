"""What jobs did before: the same job before it was started anew, and others like it.

A trend learns each run from its own steps, so it cannot see that a run is slow from its first step
on: on a bad node, after a bad change. Here the levels of earlier runs are kept, and a young run is
held against them: first its own earlier runs, else runs of models with as many parameters on as
many of the same devices. Only runs whose steps have as many tokens are compared: one that does not
say how many may have changed its batch.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from detector.families.pace import Trend

YOUNG_STEPS = 20  # before a run is held against others: caches fill, clocks rise
KEEP_RUNS = 5  # of one kind
KEEP_KINDS = 2000
SAME_TOKENS = math.log(1.05)
SAME_SECONDS = 6 * 3600.0  # what is slower for longer is how this job runs now
OTHERS = 2  # runs of others that must agree
# Others are other code: what differs by less says nothing of the cluster (facts: a change of 10 %
# is certain within a job; between jobs of one model size MFU differs by some 20 %).
OTHERS_RATIO = 1.30
ALIKE = frozenset({"job_tokens_per_second", "job_mfu_ratio"})  # comparable between jobs
Kind = tuple[str, ...]


class Level(NamedTuple):
    """A usual level: logs of the value and of the tokens per step, spread of the first."""

    log: float
    tokens: float
    spread: float


class Expected(NamedTuple):
    """What an earlier run lets expect; logs. `ratio` is the least change that counts."""

    log: float
    spread: float
    ratio: float
    whose: str


class Former:
    """Keeps levels of ended runs by kind: a job on so many devices, or a model on such devices."""

    def __init__(self) -> None:
        self._runs: OrderedDict[tuple[Kind, str], list[Level]] = OrderedDict()

    def keep(self, kinds: tuple[Kind, ...], trends: Mapping[str, Trend]) -> None:
        """Take over what a run that ends has learned; kinds are its own first, then of its like."""
        for name, trend in trends.items():
            if not (trend.ready and trend.size):
                continue
            own = Level(trend.level, trend.size, trend.spread)
            for kind in kinds:
                held = self._runs.setdefault((kind, name), [])
                held[:] = [*held, own][-KEEP_RUNS:]
                self._runs.move_to_end((kind, name))
        while len(self._runs) > KEEP_KINDS:
            self._runs.popitem(last=False)

    def expect(self, kinds: tuple[Kind, ...], name: str, trend: Trend) -> Expected | None:
        """Return what earlier runs let expect of `name`, or None."""
        ratio = max(trend.rule.ratio, 1 / trend.rule.ratio)
        for number, kind in enumerate(kinds):
            if number and name not in ALIKE:
                return None
            held = [own for own in self._runs.get((kind, name), ())
                    if abs(own.tokens - trend.size) <= SAME_TOKENS]  # fmt: skip
            if len(held) >= (OTHERS if number else 1):
                log = median(own.log for own in held) if number else held[-1].log
                spread = max(own.spread for own in held)
                whose = "other jobs like it" if number else "its run before"
                return Expected(log, spread, OTHERS_RATIO if number else ratio, whose)
        return None


def slower(trend: Trend, expected: Expected) -> bool:
    """Say whether a run is worse than earlier ones let expect, beyond floor and four spreads."""
    away = trend.sign * (trend.now() - expected.log)
    return away >= max(math.log(expected.ratio), 4 * max(trend.spread, expected.spread))
