"""What ends a job or gets into its log: lost devices, poisoned memory, killed processes, disks."""

import numpy as np

from simulator.fleet import Bools, Machines
from simulator.host import Hosts
from simulator.job import JobRun
from simulator.knobs import Knobs
from simulator.report import LogLine, Said

ABORTED = "Traceback (most recent call last): ValueError: shard 0412 cannot be decoded"


class Troubles:
    """Looks at what each job stands on, second by second."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines
        self._full: Bools = np.zeros(len(machines.nodes), dtype=bool)
        self._filled: Bools = self._full.copy()

    def look(self, hosts: Hosts) -> None:
        """Note which local disks became full since the last second."""
        full = hosts.full_disks() > 0
        self._filled, self._full = full & ~self._full, full

    def says(self, run: JobRun, number: int, second: float, knobs: Knobs) -> list[Said]:
        """Return what job `number` says of its troubles; it may have failed by then."""
        out = [self._enospc(run, node, second) for node in run.nodes if self._filled[node]]
        if run.state != "running":
            out.clear()
        if knobs.down[run.nodes].any():
            return out + run.fail(second, "a node does not answer", "node_fail")
        if knobs.aborted[number] > 0 and run.state == "running":
            out.append(LogLine(run.job.name, 0, second, "job.log_event:traceback", ABORTED))
            return out + run.fail(second, "exit code 1")
        if why := _broken(run, knobs):
            out += run.fail(second, why)
        return out

    def _enospc(self, run: JobRun, node: int, second: float) -> Said:
        rank = run.nodes.index(node) * self._machines.width
        text = "OSError: [Errno 28] No space left on device: '/scratch/tmp'"
        return LogLine(run.job.name, rank, second, "job.log_event:enospc", text)


def _broken(run: JobRun, knobs: Knobs) -> str:
    """Return why a job cannot go on, empty if it can."""
    if knobs.lost[run.gpus].any() or knobs.poisoned[run.gpus].any():
        return "CUDA error: uncorrectable"
    if (knobs.silent[run.gpus] + knobs.missing[run.gpus] + knobs.crashed[run.gpus]).any():
        return "CUDA error: the launch failed"
    if knobs.killed[run.nodes].any():
        return "a worker was killed (exit code 137)"
    return ""
