"""The two contracts: a Scorer scores waves of samples, a Watcher follows records one by one.

Both are pure (no clock, no I/O), seeded, bounded, and say when they are not ready yet.
"""

from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from detector.series import F32, Block, Bool, Ints, Wave
from forewarn.catalogue import Family


class Score(NamedTuple):
    """What a family thinks of a wave; arrays parallel to its rows.

    `surprise` is -log10 p of the sample, `effect` the signed distance from `expected` in effect
    floors, `spread` the normal distance (the signal's unit), `ready` past the warm-up.
    """

    surprise: F32
    effect: F32
    expected: F32
    spread: F32
    ready: Bool
    own: Bool  # rows that this family judges at all


class Scorer(Protocol):
    """Scores series (or entities) of a block."""

    family: Family
    pauses: bool  # no verdicts in the pauses of a job (checkpoint, evaluation, start)

    def take(self, wave: Wave) -> Wave | None:
        """Look at a whole wave and return the part to judge; None where there is none."""

    def score(self, wave: Wave) -> Score:
        """Score the part that was taken, before learning from it."""

    def absorb(self, wave: Wave, frozen: Bool) -> None:
        """Move the fast statistics, except where frozen or masked."""

    def learn(self, block: Block) -> None:
        """Move the slow statistics from the aggregates of the last minute."""

    def rebase(self, block: Block, rows: Ints) -> None:
        """Begin a new regime: the level is learned anew, the scale is kept."""

    def renew(self, block: Block, rows: Ints) -> None:
        """Another device sits in the slot: what was learned of the old one goes."""

    def snapshot(self, block: Block) -> dict[str, NDArray[Any]]:
        """Copy the state of a block."""

    def restore(self, block: Block, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back."""
