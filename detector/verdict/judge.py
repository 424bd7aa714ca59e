"""From judged waves to findings: opens, updates and closes them, one series at a time.

Python runs here only for the few rows that begin, go on or end; bounded by the ledger.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from detector.families.contract import Score
from detector.families.floors import LOAD
from detector.groups import Groups
from detector.series import F32, Block, Bool, Ints, Series, Wave
from detector.verdict import statement
from detector.verdict.ledger import Key, Ledger, identity, movement_of
from detector.verdict.persistence import Persistence
from detector.verdict.rates import Rates
from forewarn.catalogue import Family, Movement, Signal
from forewarn.inventory import Inventory
from forewarn.records import SEVERITIES, Finding, Severity

Rebase = Callable[[Block, Ints], None]
Level = Callable[[Ints], F32]
COMMON = 0.5  # share of one's own effect that the median twin must show


class Judge:
    """Turns verdicts on rows into findings."""

    def __init__(
        self,
        cluster: str,
        series: Series,
        inventory: Inventory,
        groups: Groups,
        ledger: Ledger,
        rebase: Rebase,
        rates: Rates,
    ) -> None:
        self._cluster, self._series, self._groups = cluster, series, groups
        self._inventory, self._ledger, self._rebase = inventory, ledger, rebase
        self.persistence = Persistence(rates)

    def lasting(
        self, wave: Wave, score: Score, family: Family, level: Level
    ) -> tuple[list[Finding], Bool]:
        """Judge what must persist; return the findings, and which rows must not be learned from.

        `level` gives the latest effect of any slots: what the twins in the job show.
        """
        judged = self.persistence.step(wave, score)
        begun = [self._begin(wave, score, family, at, level) for at in _where(judged.begins)]
        going = [self._go_on(wave, score, family, at) for at in _where(judged.goes_on)]
        ended = [self._end(wave, family, at) for at in _where(judged.ends)]
        found = [finding for finding in (*begun, *going, *ended) if finding is not None]
        return found, judged.frozen

    def _local(self, wave: Wave, at: int) -> int:
        return int(wave.rows[at]) if not isinstance(wave.rows, slice) else at

    def _begin(
        self, wave: Wave, score: Score, family: Family, at: int, level: Level
    ) -> Finding | None:
        block, local = wave.block, self._local(wave, at)
        signal, seconds = block.signal(local), float(wave.time[at])
        key: Key = (block.entity(local), signal.name, family)
        if self._ledger.cooling(key, seconds) or self._ledger.get(key) is not None:
            return None
        effect = float(score.effect[at])
        if family == "band" and self._common(signal, block.entity(local), effect, level):
            self._rebase(block, np.array([local]))
            return None
        self.persistence.open(block, local, seconds)
        stepped = self.persistence.stepped(block, local)
        movement = _movement(family, signal, effect, float(wave.values[at]), stepped)
        expected, spread = float(score.expected[at]), 4 * float(score.spread[at])
        found = self._finding(
            wave, at, family, movement, expected=expected, low=expected - spread,
            high=expected + spread, surprise=float(score.surprise[at]), effect=effect,
        )  # fmt: skip
        return self._ledger.open(key, found, seconds)

    def _common(self, signal: Signal, entity: str, effect: float, level: Level) -> bool:
        """Say whether the twins in the job moved alike: then the job's own signals tell it."""
        job = self._inventory.job_of(entity)
        if signal.name not in LOAD or not job:
            return False
        peers = self._groups.peers(signal.name, job)
        twins = level(peers[peers != self._series.find(signal.name, entity)])
        return len(twins) > 0 and float(np.median(twins)) / effect >= COMMON

    def _go_on(self, wave: Wave, score: Score, family: Family, at: int) -> Finding | None:
        local, effect = self._local(wave, at), float(score.effect[at])
        block, signal = wave.block, wave.block.signal(self._local(wave, at))
        key: Key = (block.entity(local), signal.name, family)
        return self._update(key, float(wave.time[at]), float(wave.values[at]), effect,
                            float(score.surprise[at]), family)  # fmt: skip

    def _update(
        self, key: Key, seconds: float, observed: float, effect: float, surprise: float,
        family: Family,
    ) -> Finding | None:  # fmt: skip
        held = self._ledger.get(key)
        if held is None:
            return None
        told = self._ledger.update(
            key, seconds, observed=statement.finite(observed), effect=statement.short(effect),
            surprise=statement.short(surprise),
            severity=_graver(held.severity, statement.severity(family, held.movement, effect)),
        )  # fmt: skip
        return self._fresh(told) if told is not None else None

    def _fresh(self, told: Finding) -> Finding:
        """Give a finding that is told the readings of now."""
        around = statement.readings(self._series, told.entity)
        return self._ledger.amend((told.entity, told.signal, told.family), readings=around)

    def _end(self, wave: Wave, family: Family, at: int) -> Finding | None:
        local = self._local(wave, at)
        self.persistence.of(wave.block).open[local] = False
        key: Key = (wave.block.entity(local), wave.block.signal(local).name, family)
        return self._ledger.close(key, float(wave.time[at]))

    def at_once(
        self, wave: Wave, at: int, family: Family, movement: Movement, observed: float,
        low: float | None, high: float | None,
    ) -> Finding | None:  # fmt: skip
        """Open or update a finding that needs no persistence: a limit, a forbidden count."""
        block, local = wave.block, self._local(wave, at)
        key: Key = (block.entity(local), block.signal(local).name, family)
        seconds = float(wave.time[at])
        held = self._ledger.get(key)
        if held is not None:
            grave = _graver(held.severity, "major")
            told = self._ledger.update(key, seconds, observed=statement.finite(observed),
                                       severity=grave)  # fmt: skip
            return self._fresh(told) if told is not None else None
        if self._ledger.cooling(key, seconds) and movement != "event":
            return None
        found = self._finding(
            wave, at, family, movement, observed=observed, expected=None, low=low, high=high,
            surprise=300.0, effect=1.0,
        )  # fmt: skip
        return self._ledger.open(key, found, seconds)

    def stuck(self, wave: Wave, at: int) -> Finding | None:
        """Open the finding of a sensor that froze."""
        seconds, entity, signal = self._place(wave, at)
        key: Key = (entity, signal.name, "silence")
        if self._ledger.cooling(key, seconds) or self._ledger.get(key) is not None:
            return None
        found = self._finding(
            wave, at, "silence", "stuck", expected=None, low=None, high=None, surprise=300.0,
            effect=1.0,
        )  # fmt: skip
        text = f"{found.text} again and again while it should move: the sensor is frozen"
        return self._ledger.open(key, msgspec.structs.replace(found, text=text), seconds)

    def moves(self, wave: Wave, at: int) -> Finding | None:
        """Close it: the sensor moves again."""
        seconds, entity, signal = self._place(wave, at)
        return self._ledger.close((entity, signal.name, "silence"), seconds)

    def _place(self, wave: Wave, at: int) -> tuple[float, str, Signal]:
        local = self._local(wave, at)
        return float(wave.time[at]), wave.block.entity(local), wave.block.signal(local)

    def _finding(
        self, wave: Wave, at: int, family: Family, movement: Movement, *,
        expected: float | None, low: float | None, high: float | None, surprise: float,
        effect: float, observed: float | None = None,
    ) -> Finding:  # fmt: skip
        block, local, seconds = wave.block, self._local(wave, at), float(wave.time[at])
        entity, signal = block.entity(local), block.signal(local)
        return statement.finding(
            id_=identity(self._cluster, entity, signal.name, family, int(seconds)),
            cluster=self._cluster, block=block, local=local, family=family, movement=movement,
            seconds=seconds, observed=float(wave.values[at]) if observed is None else observed,
            expected=expected, low=low, high=high, surprise=surprise, effect=effect,
            job=self._inventory.job_of(entity), around=statement.readings(self._series, entity),
        )  # fmt: skip

    def on_deadline(self, seconds: float) -> list[Finding]:
        """Close what needed no persistence after 90 s without a breach, and what went silent."""
        out: list[Finding | None] = []
        for key in self._ledger.quiet(seconds):
            out.append(self._ledger.close(key, seconds))
            slot = self._series.find(key[1], key[0])
            if slot is not None:
                block, local = self._series.at(slot)
                self.persistence.of(block).open[local] = False
        return [finding for finding in out if finding is not None]


def _movement(
    family: Family, signal: Signal, effect: float, value: float, stepped: bool
) -> Movement:
    """Name what began."""
    if family == "counter":
        return "grows"
    if family == "band" and value == 0 and effect < 0:
        return "zero"
    steps = family == "band" and signal.unit != "celsius"  # heat has no steps
    return movement_of(effect, stepped, steps)


def _graver(one: Severity, other: Severity) -> Severity:
    return max(one, other, key=SEVERITIES.index)


def _where(mask: Bool) -> list[int]:
    return [int(at) for at in np.flatnonzero(mask)]
