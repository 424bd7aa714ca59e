"""What the agent costs on this machine: processor time a round and memory, beside plain reading."""

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry

from exporters.agent import Agent
from exporters.collector import Host
from exporters.nic.interfaces import ROWS, interfaces
from exporters.registry import build
from forewarn.config import Agent as AgentSettings
from forewarn.config import KernelLog, Settings
from forewarn.memory import MemoryBus

ROUNDS = 300
SECOND = ("pressure/cpu", "pressure/io", "pressure/memory", "stat")
TEN = ("meminfo", "sys/kernel/hung_task_detect_count", "diskstats", "mounts")


def processor_seconds(work: Callable[[int], object]) -> float:
    """Return the mean processor time of one round, of all threads."""
    work(0)
    start = time.process_time()
    for number in range(1, ROUNDS + 1):
        work(number)
    return (time.process_time() - start) / ROUNDS


def plain(host: Host) -> Callable[[int], object]:
    """The peer: read the same files at the same periods, and do nothing with them."""
    nics = interfaces(host.sys / "class/net")
    files = [host.sys / "class/net" / nic / row.file for nic in nics for row in ROWS[:2]]
    files += [host.sys / "class/net" / nic / row.file for nic in nics for row in ROWS[5:7]]
    second = [host.proc / name for name in SECOND] + files
    ten = [host.proc / name for name in TEN]

    def work(number: int) -> None:
        for path in second if number % 10 else second + ten:
            path.read_bytes()

    return work


def main() -> None:
    """Print the costs."""
    with tempfile.TemporaryDirectory() as folder:
        own = AgentSettings(state_directory=folder, kernel_log=KernelLog(path=f"{folder}/kmsg"))
        Path(f"{folder}/kmsg").touch()
        bus = MemoryBus()
        agent = Agent(Settings(agent=own), bus.producer(), CollectorRegistry())
        spent = processor_seconds(agent.tick)
    peer = processor_seconds(plain(Host("node/n")))
    names = [collector.name for collector in build(Host("node/n"))]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(names)} collectors: {', '.join(names)}")
    print(
        f"a round: {1e3 * spent:.2f} ms of processor time, {100 * spent:.2f} % of a core at 1 Hz, "
        f"{spent / peer:.1f} x plain reading of the same files; at most {memory:.0f} MiB resident"
    )


if __name__ == "__main__":
    main()
