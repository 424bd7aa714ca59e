"""What every fault has: how strongly it acts at a time, and how far it stands out of the noise.

d' = (mean shift of the signal that shows the fault, fully developed) / (healthy standard deviation
of that signal's mean over the persistence window). A fault of d' >= 4 is one that a detector must
find; d' is cut at 300, the largest surprise a finding carries.
"""

from collections.abc import Callable

import msgspec

from simulator.fleet import Machines
from simulator.load import Knobs
from simulator.scenario import Fault, Scenario

PERSISTENCE_SECONDS = 30.0
D_PRIME_MOST = 300.0


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One way to fail: a row of FAULTS.

    `severity_help` says the unit of `Fault.severity`; `severities` are the bounds a random scenario
    draws from, by form. `act(fault, index, seconds, knobs)` turns the knobs, `index` being where
    the entity stands; `expected` names runbook entries that the evidence supports, best first.
    """

    name: str
    entity_kind: str
    severity_help: str
    severities: tuple[float, float]
    heals: bool
    act: Callable[[Fault, int, float, Knobs], None]
    expected: Callable[[Fault], tuple[str, ...]]
    d_prime: Callable[[Fault, Scenario, Machines], float]


def active(fault: Fault, seconds: float) -> bool:
    """Say whether `seconds` lies between onset and end."""
    return fault.onset_seconds <= seconds < (fault.end_seconds or float("inf"))


def level(fault: Fault, seconds: float) -> float:
    """Return how far the fault is developed: 0 before onset, 1 in full, by its form."""
    if not active(fault, seconds):
        return 0.0
    since = seconds - fault.onset_seconds
    if fault.form == "gradual":
        return min(1.0, since / fault.ramp_seconds)
    if fault.form == "intermittent":
        return float(since % (fault.on_seconds + fault.off_seconds) < fault.on_seconds)
    return 1.0


def cut(d_prime: float) -> float:
    """Return d' cut at its largest value."""
    return min(d_prime, D_PRIME_MOST)
