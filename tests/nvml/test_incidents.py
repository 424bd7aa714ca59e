"""Agent killed, GPU lost, sensor frozen, node rebooted: four incidents, each with its own cause.

The whole line: a real agent process and the real `nvidia-ml-py` on the stand-in, detect, decide.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from detector.engine import Engine
from exporters.gpu.nvml.fields import Field
from forewarn import wire
from forewarn.bus import Message, TopicName
from forewarn.config import Settings
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, InventoryItem, Placement
from tests.detector.desk import Stage
from tests.nvml.bench import Bench, Seen, as_messages
from tests.nvml.standin import SLOTS, Standin

START = 1_800_000_000 * NANOSECONDS
SICK = 2
GPU = f"node/n7/gpu/{SLOTS[SICK]}"
DECIDES: tuple[TopicName, ...] = ("events", "inventory")


class Line:
    """Detect and decide, fed with what an agent has sent; one tick is one second."""

    def __init__(self, folder: Path) -> None:
        bus, registry = MemoryBus(), CollectorRegistry()
        self._engine = Engine("c1", registry, DeadLetters(bus.producer(), "test", registry))
        self._stage = Stage(folder / "decide.sqlite", Settings(cluster="c1"), now=START)
        self._second = self._offset = 0

    def place(self, job: str) -> None:
        """Let a job have a rank on every GPU, as its reporters would tell."""
        items = [
            InventoryItem("c1", f"job/{job}/rank/{rank}", self._now(),
                          placement=Placement(job, rank, "n7", (f"node/n7/gpu/{slot}",)))
            for rank, slot in enumerate(SLOTS)
        ]  # fmt: skip
        told = [(own.entity, wire.encode_inventory(own)) for own in items]
        self._step([self._message("inventory", *own) for own in told])

    def take(self, seen: Seen) -> None:
        """Work on what was sent in one second."""
        self._second += 1
        self._step(as_messages([seen], self._now(), 1))

    def nothing(self, seconds: int) -> None:
        """Let seconds pass in which nobody sends anything."""
        for _ in range(seconds):
            self._second += 1
            self._step([])

    def _now(self) -> int:
        return START + self._second * NANOSECONDS

    def _step(self, messages: list[Message]) -> None:
        found = self._engine.feed(messages) + self._engine.tick(self._now())
        told = [m for m in messages if m.topic in DECIDES]
        told += [self._message("findings", f.entity, wire.encode_finding(f)) for f in found]
        self._stage.now = self._now()
        self._stage.decide.step(told)

    def _message(self, topic: TopicName, key: str, value: bytes) -> Message:
        self._offset += 1
        return Message(topic, key, value, 0, self._offset, self._now())

    def incidents(self) -> list[Incident]:
        return self._stage.living()

    def close(self) -> None:
        self._stage.close()


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    own = Line(tmp_path)
    own.place("4711")
    yield own
    own.close()


def told(line: Line) -> list[tuple[str, str]]:
    """Return where each incident sits, and its first cause."""
    return [(own.entity, own.hypotheses[0].entry) for own in line.incidents()]


def live(line: Line, agent: Bench, standin: Standin, seconds: int, frozen: bool = False) -> None:
    """Let all GPUs work by turns hard and little; their temperatures go along, but one, if so."""
    for second in range(seconds):
        hard = second // 60 % 2
        for number in range(len(SLOTS)):
            standin.set(number, Field.POWER_AVERAGE, 680_000 if hard else 120_000)
            if not (frozen and number == SICK):
                standin.heat(number, 45 + 15 * hard + second % 3)
        line.take(agent.tick(1))


def test_killed_agent_is_missing_telemetry_of_its_node(
    line: Line, agent: Bench, standin: Standin
) -> None:
    live(line, agent, standin, 60)
    assert told(line) == []
    agent.kill()
    line.nothing(60)
    assert told(line) == [("node/n7/agent/main", "OBS-01")]


def test_lost_gpu_fell_off_the_bus(line: Line, agent: Bench, standin: Standin) -> None:
    live(line, agent, standin, 60)
    standin.xid(SICK, 79)
    standin.lose(SICK)
    live(line, agent, standin, 60)
    assert told(line) == [(GPU, "GPU-CORE-01")]


def test_gpu_that_is_lost_without_a_word_is_missing_from_its_node(
    line: Line, agent: Bench, standin: Standin
) -> None:
    live(line, agent, standin, 60)
    standin.lose(SICK)
    live(line, agent, standin, 60)
    assert told(line) == [("node/n7", "GPU-CORE-08")]


def test_frozen_sensor_is_that_and_nothing_of_the_gpu(
    line: Line, agent: Bench, standin: Standin
) -> None:
    live(line, agent, standin, 120)
    assert told(line) == []
    live(line, agent, standin, 200, frozen=True)
    assert told(line) == [(GPU, "OBS-04")]


def test_rebooted_node_is_an_unexpected_reboot(
    line: Line, start: Callable[..., Bench], library: Path, standin: Standin, tmp_path: Path
) -> None:
    first = start(library, standin, AGENT_PROC=_proc(tmp_path / "one"))
    live(line, first, standin, 60)
    first.kill()
    line.nothing(90)
    again = start(library, standin, AGENT_PROC=_proc(tmp_path / "two"))
    live(line, again, standin, 30)
    assert told(line) == [("node/n7/agent/main", "HOST-12")]


def _proc(folder: Path) -> str:
    """Make a /proc of a boot of its own."""
    boot = folder / "sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text(f"boot-{folder.name}\n", encoding="ascii")
    (folder / "self").symlink_to("/proc/self")
    return str(folder)
