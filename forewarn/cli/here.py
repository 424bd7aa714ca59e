"""The real machine during the demo: its agent and its own detector, apart from the simulation."""

import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry

from forewarn import wire
from forewarn.config import Agent as AgentSettings
from forewarn.config import Settings
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import Finding, Frame, Outcome

EXAMPLES = 12


class Example(msgspec.Struct, frozen=True):
    """One reading to show."""

    entity: str
    signal: str
    value: float
    unit: str


class Sensors(msgspec.Struct, frozen=True):
    """What this machine's sensors gave during the demo."""

    node: str
    rounds: int
    signals: int
    entities: int
    outcomes: dict[str, int]
    examples: tuple[Example, ...]
    findings: tuple[Finding, ...]


class Here:
    """Runs the agent of this machine in a thread, on a bus of its own."""

    def __init__(self) -> None:
        from detector.engine import Engine
        from exporters.agent import Agent

        self._directory = tempfile.TemporaryDirectory(prefix="forewarn-here-")
        state = Path(self._directory.name)
        own = AgentSettings(
            listen="127.0.0.1:0",
            state_directory=str(state),
            reporter_socket=str(state / "reporter.sock"),
        )
        self._settings = Settings(cluster="this-machine", agent=own)
        self._bus = MemoryBus()
        self._consumer = self._bus.consumer(("frames", "jobs", "events", "inventory"), None)
        registry = CollectorRegistry()
        dead = DeadLetters(self._bus.producer(), "demo", registry)
        self._engine = Engine(self._settings.cluster, registry, dead)
        self._agent = Agent(self._settings, self._bus.producer(), CollectorRegistry())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._agent.run, args=(self._stop,), daemon=True)
        self._begun = time.monotonic()
        self._thread.start()

    def finish(self) -> Sensors:
        """Stop the agent and return what it read. At least three rounds are waited for."""
        while time.monotonic() - self._begun < 3 * self._settings.agent.period_seconds:
            time.sleep(0.1)
        self._stop.set()
        self._thread.join(5.0)
        sensors = self._read()
        self._directory.cleanup()
        return sensors

    def _read(self) -> Sensors:
        messages = self._consumer.poll(0.0, 1_000_000)
        findings = self._engine.feed(messages)
        frames = [wire.decode_frame(m.value) for m in messages if m.topic == "frames"]
        return _summary(self._settings.agent.node_name(), frames, findings)


def _summary(node: str, frames: list[Frame], findings: list[Finding]) -> Sensors:
    from array import array

    from forewarn.catalogue import CATALOGUE

    latest: dict[tuple[str, str], tuple[float, Outcome]] = {}
    layouts = wire.LayoutCache()
    for frame in frames:
        pairs = layouts.get(frame.layout).pairs()
        outcomes = frame.outcome or bytes(len(pairs))
        for (signal, entity), value, outcome in zip(
            pairs, array("d", frame.values), outcomes, strict=True
        ):
            if outcome != Outcome.NOT_DUE:
                latest[entity, signal] = (value, Outcome(outcome))
    good = {at: value for at, (value, outcome) in latest.items() if outcome is Outcome.OK}
    seen: set[str] = set()
    examples: list[Example] = []
    for (entity, signal), value in sorted(good.items()):
        if signal not in seen and not signal.startswith("agent_") and len(examples) < EXAMPLES:
            seen.add(signal)
            examples.append(Example(entity, signal, value, CATALOGUE[signal].unit))
    return Sensors(
        node=node,
        rounds=len(frames),
        signals=len({signal for _, signal in good}),
        entities=len({entity for entity, _ in good}),
        outcomes=dict(Counter(outcome.name.lower() for _, outcome in latest.values())),
        examples=tuple(examples),
        findings=tuple(finding for finding in findings if finding.seq == 1),
    )
