"""One wave through all scorers: rates, limits, counters, bands; then what they say is judged."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.families import Families
from detector.families.contract import Score
from detector.families.limits import MOVEMENT
from detector.series import BLOCK, Block, Ints, Series, Wave
from detector.verdict.judge import Judge
from forewarn.catalogue import Family
from forewarn.records import Finding

Listener = Callable[[Wave, Score, Family], None]


class Scoring:
    """Scores waves; owns no statistics itself."""

    def __init__(self, series: Series, families: Families, judge: Judge) -> None:
        self._series, self._families, self._judge = series, families, judge
        self.listener: Listener | None = None  # told of every score: `forewarn explain`
        self._effects: list[NDArray[np.float32]] = []  # last signed effect of each slot, by block

    def score(self, wave: Wave) -> list[Finding]:
        """Return the findings that one wave opens, updates or closes."""
        out = self._limits(wave) + self._counts(wave)
        self._families.peers.note(wave)
        out += self._frozen(wave)
        for scorer in self._families.scorers:
            part = scorer.take(wave)
            if part is None:
                continue
            score = scorer.score(part)
            quiet = self._quiet(part) & scorer.pauses
            score = score._replace(ready=score.ready & ~quiet)
            if scorer is self._families.band:
                self._note(part, score)
            if self.listener is not None:
                self.listener(part, score, scorer.family)
            found, frozen = self._judge.lasting(part, score, scorer.family, self._levels)
            out += found
            scorer.absorb(part, frozen | quiet)
        return out

    @staticmethod
    def _quiet(wave: Wave) -> Any:
        """Say which rows are in a pause."""
        return wave.time < wave.block.quiet_until[wave.rows]

    def _note(self, wave: Wave, score: Score) -> None:
        while len(self._effects) <= wave.block.number:
            self._effects.append(np.zeros(BLOCK, np.float32))
        held = self._effects[wave.block.number]
        held[wave.rows] = np.where(score.ready, score.effect, held[wave.rows])

    def _levels(self, slots: Ints) -> NDArray[np.float32]:
        """Return the last effects of some slots."""
        return np.array([self._effects[s // BLOCK][s % BLOCK] for s in slots], np.float32)

    def _limits(self, wave: Wave) -> list[Finding]:
        limits, out = self._families.limits, []
        breach = limits.check(wave)
        for at in np.flatnonzero(breach):
            local = int(wave.rows[at]) if not isinstance(wave.rows, slice) else int(at)
            low, high = limits.limits(wave.block, local)
            observed = limits.observed(wave, int(at))
            movement = MOVEMENT[int(breach[at])]
            found = self._judge.at_once(wave, int(at), "band" if movement != "nonzero" else
                                        "counter", movement, observed, low, high)  # fmt: skip
            if found is not None:
                out.append(found)
        return out

    def _counts(self, wave: Wave) -> list[Finding]:
        out = []
        for at in np.flatnonzero(self._families.counter.rose(wave)):
            seen = float(wave.delta[at])
            found = self._judge.at_once(wave, int(at), "counter", "event", seen, None, None)
            if found is not None:
                out.append(found)
        return out

    def _frozen(self, wave: Wave) -> list[Finding]:
        froze, moves = self._families.frozen.watch(wave)
        found = [self._judge.stuck(wave, int(at)) for at in froze]
        found += [self._judge.moves(wave, int(at)) for at in moves]
        return [finding for finding in found if finding is not None]

    def learn(self, block: Block) -> None:
        """Move all slow statistics of a block; once a minute."""
        for scorer in self._families.scorers:
            scorer.learn(block)

    def on_deadline(self, seconds: float) -> list[Finding]:
        """Close limit findings without a breach, and those whose series went silent."""
        return self._judge.on_deadline(seconds)
