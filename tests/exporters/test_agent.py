import math
import os
import subprocess
import sys
import threading
from array import array
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from prometheus_client import CollectorRegistry

from exporters.agent import Agent
from exporters.collector import Collector, Host, Measurement, Notice
from forewarn import wire
from forewarn.bus import TopicName
from forewarn.config import Agent as AgentSettings
from forewarn.config import KernelLog, Settings
from forewarn.errors import ConfigError
from forewarn.memory import MemoryBus
from forewarn.records import Frame, Outcome
from tests.exporters.fakes import RefusingProducer, until

PORT = "node/n7/nic/eth0/port/1"


class Bench:
    """An agent on a bus in memory, with its state in a folder."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.bus, self.host, self.folder = MemoryBus(), host, folder
        self.producer = RefusingProducer(self.bus)
        self.socket = folder / "reporter.sock"
        self.log = folder / "kmsg"
        self.log.touch()
        self._layouts = wire.LayoutCache()

    def make(self, collectors: list[Collector] | None = None, **fields: object) -> Agent:
        own = {
            "node": "n7", "listen": "127.0.0.1:0", "state_directory": str(self.folder),
            "kernel_log": KernelLog(path=str(self.log)), "period_seconds": 0.1, **fields,
        }  # fmt: skip
        settings = Settings(cluster="c1", agent=AgentSettings(**own))  # type: ignore[arg-type]
        self.registry = CollectorRegistry()
        return Agent(settings, self.producer, self.registry, self.host, collectors)

    @contextmanager
    def running(self, agent: Agent) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=agent.run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(50)
            assert not thread.is_alive()

    def read(self, topic: TopicName) -> list[bytes]:
        consumer = self.bus.consumer([topic], None, from_beginning=[topic])
        return [message.value for message in consumer.poll(0.0, 1_000_000)]

    def frames(self, topic: TopicName = "frames", source: str = "agent") -> list[Frame]:
        frames = [wire.decode_frame(value) for value in self.read(topic)]
        return [frame for frame in frames if frame.source == source]

    def values(self, frame: Frame) -> dict[tuple[str, str], float | str]:
        pairs = self._layouts.get(frame.layout).pairs()
        wire.check_size(frame, len(pairs))
        outcomes = frame.outcome or bytes(len(pairs))
        return {
            pair: value if outcome == Outcome.OK else Outcome(outcome).name
            for pair, value, outcome in zip(pairs, array("d", frame.values), outcomes, strict=True)
        }


class Fake:
    """A collector that can hang."""

    signals: tuple[str, ...] = ("nic_rx_bytes_total",)
    deadline_seconds = 0.5

    def __init__(self, name: str = "fake", count: int = 1) -> None:
        self.name, self._count = name, count
        self.gate = threading.Event()
        self.gate.set()

    def read(self, due: Container[str]) -> list[Measurement]:
        self.gate.wait(60)
        return [
            Measurement(self.signals[0], f"node/n7/nic/e{n}/port/1", float(n))
            for n in range(self._count)
        ]


@pytest.fixture
def bench(captured: Host, tmp_path: Path) -> Bench:
    return Bench(captured, tmp_path)


def test_once_gives_at_least_25_signals_of_this_machine(tmp_path: Path) -> None:
    bench = Bench(Host(f"node/{os.uname().nodename}"), tmp_path)
    samples = bench.make(period_seconds=1.0).once()
    assert len({s.signal for s in samples if s.outcome == "ok"}) >= 25
    assert {s.outcome for s in samples} <= {"ok", "unsupported", "failed", "not_due"}
    assert all((s.value is None) == (s.outcome != "ok") for s in samples)
    assert bench.read("frames") == []
    own = ["/agent/" in s.entity for s in samples]
    assert own == sorted(own)
    assert len(set(own)) == 2


def test_frames_hold_what_was_due_and_decode(bench: Bench) -> None:
    with bench.running(bench.make(period_seconds=1.0)):
        until(lambda: len(bench.frames()) >= 3)
    first, second, *_ = bench.frames()
    assert (first.cluster, first.node, first.seq, second.seq) == ("c1", "n7", 1, 2)
    assert first.boot_id == "11111111-2222-3333-4444-555555555555"
    values = bench.values(first)
    assert values["node_clock_synchronized", "node/n7"] in {0.0, 1.0}
    assert values["nic_link_speed_bytes_per_second", PORT] == "UNSUPPORTED"
    assert {signal for signal, _ in bench.values(second)} == {
        "nic_carrier_changes_total", "nic_link_up", "nic_rx_bytes_total", "nic_tx_bytes_total",
        "nic_pfc_rx_pause_frames_total", "nic_pfc_tx_pause_frames_total",
        "nic_pfc_storm_events_total", "nic_utilization_ratio",
        "node_cpu_iowait_ratio", "node_cpu_utilization_ratio",
        "node_pressure_cpu_seconds_total", "node_pressure_io_seconds_total",
        "node_pressure_memory_seconds_total",
    }  # fmt: skip


def test_the_inventory_tells_what_is_collected_and_what_cannot_be(bench: Bench) -> None:
    with bench.running(bench.make(attributes={"rack": "r12"})):
        until(lambda: len(bench.frames()) >= 2)
    items = {i.entity: i for i in map(wire.decode_inventory, bench.read("inventory"))}
    assert items["node/n7"].attributes["rack"] == "r12"
    assert items["node/n7"].attributes["kernel"] == os.uname().release
    assert "nic_rx_bytes_total" in items[PORT].collects["interfaces"]
    assert items[PORT].collects["interfaces"][0] == "nic.link_state"  # an event that is watched
    assert "nic_link_speed_bytes_per_second" in items[PORT].unsupported
    assert "nic_rx_bytes_total" not in items[PORT].unsupported
    assert "node_pcie_fatal_errors_total" in items["node/n7"].unsupported


def test_what_a_collector_notices_becomes_an_event(bench: Bench) -> None:
    class Seeing(Fake):
        events: ClassVar[dict[str, str]] = {"nic_link_up": "nic.link_state"}
        seen = 0

        def notices(self) -> list[Notice]:
            self.seen += 1
            code = "nic.link_state:down"
            return [Notice(PORT, code, "major", "token=abc")] if self.seen == 1 else []

    with bench.running(bench.make([Seeing("seeing")])):
        until(lambda: bench.read("events") and len(bench.frames()) >= 3)
    (event,) = map(wire.decode_event, bench.read("events"))
    assert (event.entity, event.code, event.severity) == (PORT, "nic.link_state:down", "major")
    assert (event.source, event.text) == ("seeing", "token=***")


def test_a_hung_collector_delays_nobody_and_is_told(bench: Bench) -> None:
    fine, hung = Fake("fine"), Fake("hung")
    hung.signals = ("nic_tx_bytes_total",)
    agent = bench.make([fine, hung])
    with bench.running(agent):
        until(lambda: len(bench.frames()) >= 2)
        hung.gate.clear()
        key = ("nic_tx_bytes_total", "node/n7/nic/e0/port/1")
        until(lambda: any(bench.values(f).get(key) == "FAILED" for f in bench.frames()))
        seen = len(bench.frames())
        until(lambda: len(bench.frames()) >= seen + 3)
        until(lambda: agent.failures("hung") >= 2)
        assert agent.failures("fine") == 0
    latest = bench.values(bench.frames()[-1])
    assert latest["nic_rx_bytes_total", "node/n7/nic/e0/port/1"] == 0.0
    assert latest[key] == "FAILED"


def test_a_node_with_50_000_series_sends_20_000_and_counts_the_rest(bench: Bench) -> None:
    agent = bench.make([Fake(count=50_000)], period_seconds=1.0)
    with bench.running(agent):
        until(lambda: agent.outlet.admission.dropped >= 2 * 30_000)
    frames = [*bench.frames(), *bench.frames(source="agent/fake")]
    assert max(len(bench.values(frame)) for frame in frames) <= 20_000


def test_what_waits_while_the_bus_is_away_is_caught_up(bench: Bench) -> None:
    agent = bench.make()
    with bench.running(agent):
        until(lambda: len(bench.frames()) >= 2)
        bench.producer.away = True
        until(lambda: agent.outlet.spool.bytes > 1000)
        bench.producer.away = False
        seen = len(bench.frames())
        until(lambda: len(bench.frames()) >= seen + 3)
    seqs = [frame.seq for frame in bench.frames()]
    assert seqs == list(range(1, len(seqs) + 1))


def test_an_xid_in_the_log_is_an_event(bench: Bench) -> None:
    with bench.running(bench.make()):
        until(bench.frames)
        with bench.log.open("w") as handle:
            handle.write("3,9,250000,-;NVRM: Xid (PCI:0000:1a:00): 79, pid=1, gone\n")
        until(lambda: bench.read("events"))
    event = wire.decode_event(bench.read("events")[0])
    assert (event.entity, event.code) == ("node/n7/gpu/0000:1a:00.0", "nvidia.xid:79")


def test_streams_can_be_disabled(bench: Bench) -> None:
    with bench.running(bench.make(disable=("reporter", "kernel_log"))):
        until(bench.frames)
        assert not bench.socket.exists()


def test_a_stream_that_cannot_be_served_is_told_and_the_rest_goes_on(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with bench.running(bench.make(reporter_socket=f"{bench.folder}/{120 * chr(120)}")):
        until(lambda: "stream reporter ended" in caplog.text)
        seen = len(bench.frames())
        until(lambda: len(bench.frames()) > seen)
        up = {
            name: bench.registry.get_sample_value("forewarn_stream_up", {"stream": name})
            for name in ("reporter", "kernel_log")
        }
    assert up == {"reporter": 0.0, "kernel_log": 1.0}
    assert "is longer than 107 bytes" in caplog.text


def test_an_unknown_collector_to_disable_is_an_error(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="unknown gpus"):
        bench.make(disable=("gpus",))


def test_an_address_in_use_ends_the_agent_with_a_clear_error(bench: Bench) -> None:
    first = bench.make()
    with bench.running(first):
        until(bench.frames)
        until(lambda: first.port)
        second = bench.make(listen=f"127.0.0.1:{first.port}")
        with pytest.raises(ConfigError, match="Address already in use"):
            second.run(threading.Event())


TRAINING = """
import os, sys, time
from forewarn.reporter import Reporter
report = Reporter("4711", rank=0, world_size=1, devices=["0000:1a:00"], socket=sys.argv[1])
for step in range(int(sys.argv[2])):
    if step == 10 and os.fork() == 0:
        os._exit(0)  # a data worker that comes and goes
    report.step(step, loss=float("nan") if step == 20 else 1.0, tokens=1000)
    time.sleep(0.02)
report.close(timeout_seconds=60)
"""


def test_a_training_process_reports_over_restart_and_fork(bench: Bench) -> None:
    """The process forks at step 10, the agent restarts while it runs, NaN comes at step 20."""

    def steps() -> list[float]:
        frames = bench.frames("jobs", "reporter:4711")
        own = ("job_completed_steps_total", "job/4711")
        return [float(v[own]) for v in map(bench.values, frames) if own in v]

    command = [sys.executable, "-W", "error::ResourceWarning", "-c", TRAINING]
    with subprocess.Popen([*command, str(bench.socket), "60"]) as process:
        with bench.running(bench.make()):
            until(lambda: len(steps()) >= 15)
        with bench.running(bench.make()):
            until(lambda: process.poll() is not None)
            until(lambda: steps()[-1] == 59)
    assert process.returncode == 0
    got = steps()
    assert got == sorted(set(got))
    assert len(got) >= 59  # at most the line that was on its way when the agent went
    values = [bench.values(frame) for frame in bench.frames("jobs", "reporter:4711")]
    losses = [float(own["job_loss", "job/4711"]) for own in values if len(own) > 1]
    assert sum(map(math.isnan, losses)) == 1
    codes = [wire.decode_event(value).code for value in bench.read("events")]
    assert codes == ["job.state:running", "job.state:completed"]
    items = [wire.decode_inventory(value) for value in bench.read("inventory")]
    placed = [item.placement for item in items if item.entity == "job/4711/rank/0"]
    assert placed[0] is not None
    assert placed[0].devices == ("node/n7/gpu/0000:1a:00.0",)


def test_importing_the_agent_loads_nothing_heavy() -> None:
    script = (
        "import sys, exporters.agent\n"
        "print(sorted({'numpy', 'scipy', 'pandas', 'rich', 'click', 'kafka'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
