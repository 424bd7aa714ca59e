"""One node boots though nobody planned it: it is away for a while and back with a new boot.

Shows as silence, a new boot id, the job failing; intermittent boots again with every beat.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Switch it off for as long as a boot takes."""
    since = seconds - fault.onset_seconds
    if fault.form == "intermittent":
        since %= 2 * (fault.on_seconds + fault.off_seconds) + fault.severity
    if active(fault, seconds) and since < fault.severity:
        knobs.down[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the reboot."""
    return ("HOST-12",)


NODE_REBOOTS = Mode(
    name="node_reboots",
    layer="host",
    entity_kind="node",
    severity_help="seconds that a boot takes",
    severities=(45.0, 180.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
