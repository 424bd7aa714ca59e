"""What every fault has: how strongly it acts at a time, and how far it stands out of the noise.

d' = (mean shift of the signal that shows the fault, fully developed) / (healthy standard deviation
of that signal's mean over the persistence window). A fault of d' >= 4 is one that a detector must
find; d' is cut at 300, the largest surprise a finding carries.
"""

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

Layer = Literal[
    "gpu", "scale_up", "pcie", "nic", "switch", "storage", "host", "clock", "facility", "job",
    "telemetry",
]  # fmt: skip
PERSISTENCE_SECONDS = 30.0
D_PRIME_MOST = 300.0


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One way to fail: a row of FAULTS.

    `entity_kind` is one of `simulator.places`; `cooling` names the only kind of fleet in which the
    mode can happen, empty for any. `severity_help` says the unit of `Fault.severity`; `severities`
    are the bounds that a random scenario draws from, evenly in log: where there is noise they span
    d' from about 6 to 100; evidence that knows no noise (a code, a state) has d' 300 at any.
    `most` is the largest severity that means something, as of a share.
    `act(fault, index, seconds, knobs)` turns the knobs, `index` being where the entity stands;
    `expected` names runbook entries that the evidence supports, best first.
    """

    name: str
    layer: Layer
    entity_kind: str
    severity_help: str
    severities: tuple[float, float]
    heals: bool
    act: Callable[[Fault, int, float, Knobs], None]
    expected: Callable[[Fault], tuple[str, ...]]
    d_prime: Callable[[Fault, Scenario, Machines], float]
    cooling: Literal["", "air", "liquid"] = ""
    most: float = math.inf


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


def developed_seconds(fault: Fault, seconds: float) -> float:
    """Return the time since onset, each second counted by how far the fault was developed."""
    since = seconds - fault.onset_seconds
    if not active(fault, seconds):
        return 0.0
    if fault.form == "gradual":
        ramp = fault.ramp_seconds
        return since**2 / (2 * ramp) if since < ramp else since - ramp / 2
    if fault.form == "intermittent":
        beats, within = divmod(since, fault.on_seconds + fault.off_seconds)
        return beats * fault.on_seconds + min(within, fault.on_seconds)
    return since


def begins(fault: Fault, seconds: float, beat: float) -> bool:
    """Say whether the fault comes (again) to its full level in the beat up to `seconds`."""
    return level(fault, seconds) >= 1.0 > level(fault, seconds - beat)


def comes(fault: Fault, seconds: float, beat: float) -> bool:
    """Say whether something that has no warning happens in the beat up to `seconds`.

    At the onset; in the intermittent form again with every beat of it.
    """
    if fault.form == "intermittent":
        return begins(fault, seconds, beat)
    return active(fault, seconds) and not active(fault, seconds - beat)


BURSTS = 2  # that come before what stays, in the intermittent form of faults that do not heal


def stays(fault: Fault, seconds: float) -> bool:
    """Say whether a fault that ends in something lasting is there: at once, or after its warning.

    The gradual form has its ramp as warning, the intermittent one BURSTS beats.
    """
    warning = {
        "sudden": 0.0,
        "gradual": fault.ramp_seconds,
        "intermittent": BURSTS * (fault.on_seconds + fault.off_seconds),
    }
    return seconds >= fault.onset_seconds + warning[fault.form]


def always(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the d' of evidence without noise: a code, a state, a count of parts."""
    return D_PRIME_MOST


def cut(d_prime: float) -> float:
    """Return d' cut at its largest value."""
    return min(d_prime, D_PRIME_MOST)
