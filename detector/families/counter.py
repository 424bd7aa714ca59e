"""Family counter: errors that are counted. One where none may be is an event at once; others are
held against a Gamma-Poisson rate, shrunk to the pooled rate of their class. Rates are per hour at
the usual traffic: where the bytes of a port are read, errors are expected with them.

Real faults are overdispersed, so the predictive tail is negative binomial (facts: index of
dispersion 3.4 on 584 real node faults); the variance is mu + mu^2 / SHAPE.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from detector.families import floors
from detector.families.contract import Score
from detector.families.traffic import Traffic
from detector.series import (
    F32,
    SIGNALS,
    Block,
    Bool,
    Ints,
    Series,
    Wave,
    flags,
    floats,
    restore,
    snapshot,
)
from forewarn.catalogue import Bad, Family

SHAPE = 4.0  # of the negative binomial: how far rates of one series wander
PRIOR_SECONDS = 600.0  # the pooled rate counts as much as ten minutes of own history
MEMORY_SECONDS = 3600.0
HANDFUL = 3.0  # fewer events in one sample are no growth
TIMES = 4.0  # nor is less than four times the expected rate
MAX_SURPRISE = 300.0


@dataclass(slots=True, eq=False)
class State:
    """Events, and seconds of exposure at the usual traffic; both fade over an hour."""

    at_once: Bool = field(default_factory=flags)
    growing: Bool = field(default_factory=flags)
    events: F32 = field(default_factory=floats)
    seconds: F32 = field(default_factory=floats)
    traffic: Traffic = field(default_factory=Traffic)
    known: int = 0


class Counter:
    """The scorer of error counters."""

    family: Family = "counter"
    pauses = False

    def __init__(self, series: Series) -> None:
        self._series = series
        self._states: list[State] = []
        self._pooled = np.zeros(len(SIGNALS), np.float32)
        self._sums: dict[int, NDArray[np.float64]] = {}  # by block: events and seconds by class

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        state = self._states[block.number]
        for local in range(state.known, block.used):
            signal = block.signal(local)
            counts = floors.errors(signal)
            state.at_once[local] = counts and signal.bad is Bad.ANY_INCREASE
            state.growing[local] = counts and signal.bad is not Bad.ANY_INCREASE
            if state.growing[local]:
                state.traffic.link(self._series, block, local)
        state.known = block.used
        return state

    def rose(self, wave: Wave) -> Bool:
        """Say which counters rose that never may."""
        s = self.state(wave.block)
        found: Bool = wave.mask & s.at_once[wave.rows] & (wave.delta > 0)
        return found

    def take(self, wave: Wave) -> Wave | None:
        """Take the counters whose rate is judged."""
        own = np.flatnonzero(self.state(wave.block).growing[wave.rows])
        return wave.take(own) if len(own) else None

    def score(self, wave: Wave) -> Score:
        """Compare each increase with the expected count of its interval."""
        s = self._states[wave.block.number]
        rate = self._rate(wave, s)
        mean = rate * wave.dt * s.traffic.shares(wave)
        least = np.maximum(HANDFUL, TIMES * mean)
        effect = np.where(wave.mask, wave.delta / least, 0).astype(np.float32)
        surprise = np.zeros(len(effect), np.float32)
        hot = np.flatnonzero(effect >= 1)
        surprise[hot] = _surprise(wave.delta[hot], mean[hot])
        return Score(surprise, effect, rate, np.sqrt(rate), wave.mask, np.ones_like(wave.mask))

    def _rate(self, wave: Wave, s: State) -> F32:
        """Return the posterior mean rate per second of usual traffic."""
        rows = wave.rows
        prior = self._pooled[wave.block.klass[rows]] * PRIOR_SECONDS
        rate: F32 = (s.events[rows] + prior) / (s.seconds[rows] + PRIOR_SECONDS)
        return rate.astype(np.float32)

    def absorb(self, wave: Wave, frozen: Bool) -> None:
        """Add events and exposure; a frozen series keeps its rate."""
        s, rows = self._states[wave.block.number], wave.rows
        take = wave.mask & ~frozen
        exposed = wave.dt * s.traffic.shares(wave)
        fade = np.where(take, 1 - np.clip(wave.dt / MEMORY_SECONDS, 0, 1), 1)
        s.events[rows] = s.events[rows] * fade + np.where(take, wave.delta, 0)
        s.seconds[rows] = s.seconds[rows] * fade + np.where(take, exposed, 0)
        s.traffic.absorb(wave, take)

    def learn(self, block: Block) -> None:
        """Pool the rates of each class over all blocks."""
        s, used = self.state(block), slice(0, block.used)
        own = s.growing[used]
        klass = block.klass[used][own].astype(np.int64)
        both = (s.events[used][own], s.seconds[used][own])
        self._sums[block.number] = np.array([np.bincount(klass, x, len(SIGNALS)) for x in both])
        events, seconds = sum(self._sums.values(), np.zeros((2, len(SIGNALS))))
        self._pooled = np.where(seconds > 0, events / np.maximum(seconds, 1), 0).astype(np.float32)

    def rebase(self, block: Block, rows: Ints) -> None:
        """Keep the rate: errors belong to the hardware, not to the job."""

    def renew(self, block: Block, rows: Ints) -> None:
        """Forget the rate of devices that were replaced."""
        s = self.state(block)
        s.events[rows] = s.seconds[rows] = 0

    def snapshot(self, block: Block) -> dict[str, NDArray[Any]]:
        """Copy the state of a block."""
        s = self.state(block)
        return {**snapshot(s, block.used), "usual": s.traffic.usual[: block.used].copy()}

    def restore(self, block: Block, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back."""
        s, usual = self.state(block), arrays["usual"]
        restore(s, {name: own for name, own in arrays.items() if name != "usual"})
        s.traffic.usual[: len(usual)] = usual


def _surprise(count: F32, mean: F32) -> F32:
    """Return -log10 P(N >= count) of the negative binomial with that mean."""
    safe = np.maximum(mean.astype(np.float64), 1e-9)
    log_p = stats.nbinom.logsf(np.floor(count) - 1, SHAPE, SHAPE / (SHAPE + safe))
    found: F32 = np.minimum(-log_p / np.log(10), MAX_SURPRISE).astype(np.float32)
    return found
