"""A loose fibre at one port: the link goes down for a few seconds, again and again.

Shows as link-state events, carrier changes and link-downed counts; each time the job stands still
until the link is back. Gradual flaps ever more often.
"""

from simulator.faults.fault import Mode, always, developed_seconds, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

DOWN_SECONDS = 3.0  # shorter than the adapter retries


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Cut the link for a while in every beat."""
    rate = fault.severity / 60.0 * level(fault, seconds)
    beat = fault.severity / 60.0 * developed_seconds(fault, seconds)
    if beat % 1.0 < DOWN_SECONDS * rate:
        knobs.cut[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the flapping link."""
    return ("NIC-02",)


LINK_FLAPPING = Mode(
    name="link_flapping",
    layer="nic",
    entity_kind="nic_port",
    severity_help="times a minute that the link goes down",
    severities=(2.0, 6.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
