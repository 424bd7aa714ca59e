"""A scenario with a seed: what its agents would have sent, second by second, and the truth."""

from collections.abc import Iterator

from forewarn.records import NANOSECONDS
from simulator.cluster import Cluster
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.instant import Instant
from simulator.scenario import Fault, Scenario
from simulator.truth import Truth


class Simulation:
    """A scenario with a seed; iterating it yields the same `Instant`s every time."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        machines = Machines(scenario.fleet)
        self.truth = tuple(_truth(fault, scenario, machines) for fault in scenario.fault)

    def __iter__(self) -> Iterator[Instant]:
        cluster = Cluster(self.scenario, self.seed)
        for second in range(0, self.scenario.duration_seconds, self.scenario.period_seconds):
            yield cluster.advance(second)


def simulate(scenario: Scenario, seed: int) -> Simulation:
    """Return the simulation of a scenario; all of it is fixed by the seed."""
    return Simulation(scenario, seed)


def _truth(fault: Fault, scenario: Scenario, machines: Machines) -> Truth:
    mode, start = FAULTS[fault.mode], scenario.start_unix_nano
    end = start + round(fault.end_seconds * NANOSECONDS) if fault.end_seconds else None
    return Truth(
        mode=fault.mode,
        entity=fault.entity,
        onset_unix_nano=start + round(fault.onset_seconds * NANOSECONDS),
        end_unix_nano=end,
        d_prime=mode.d_prime(fault, scenario, machines),
        expected=mode.expected(fault),
        form=fault.form,
        severity=fault.severity,
    )
