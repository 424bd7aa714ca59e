"""The ground truth of a simulation: what was done, where and when, and what should be found."""

import msgspec

from simulator.scenario import Form


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """One fault as it was injected.

    `d_prime` is its shift divided by the healthy noise over the persistence window (see
    `simulator.faults.fault`); `expected` the runbook entries that name its cause, best first.
    """

    mode: str
    entity: str
    onset_unix_nano: int
    end_unix_nano: int | None
    d_prime: float
    expected: tuple[str, ...]
    form: Form
    severity: float
