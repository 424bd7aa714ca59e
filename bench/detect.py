"""Frames to findings on one core: samples per second, beside a plain sum over the same bytes."""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry

from bench.fleet import Fleet
from detector.engine import Engine
from forewarn import wire
from forewarn.bus import Message
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus

WARM, TICKS = 3, 12


def engine() -> Engine:
    """Return a new engine on an embedded bus."""
    registry = CollectorRegistry()
    return Engine("bench", registry, DeadLetters(MemoryBus().producer(), "bench", registry))


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes, of processor time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def plain_sum(messages: list[Message]) -> float:
    """The peer: decode each frame and add up its values, nothing more."""
    frames = (wire.decode_frame(message.value) for message in messages)
    return sum(float(np.frombuffer(frame.values, "<f8").sum()) for frame in frames)


def race(nodes: int) -> None:
    """Feed `nodes` agents at 1 Hz and print what it costs."""
    fleet, own = Fleet(nodes), engine()
    for second in range(WARM):
        own.feed(fleet.tick(second))
    batches = [fleet.tick(WARM + second) for second in range(TICKS)]
    found = 0
    spent = seconds(lambda: [own.feed(batch) for batch in batches])
    found = len(own.flush())
    peer = seconds(lambda: [plain_sum(batch) for batch in batches])
    samples = nodes * fleet.width * TICKS
    print(
        f"{nodes:6d} nodes {nodes * fleet.width:9d} series: "
        f"{samples / spent / 1e6:5.2f} M samples/s, {1e9 * spent / samples:4.0f} ns each, "
        f"{nodes * TICKS / spent:8.0f} frames/s, {spent / peer:4.1f} x a plain sum, "
        f"{found} findings"
    )


def peers(nodes: int) -> None:
    """Print which part of a tick goes into twins: one job on every 16 nodes, 60 seconds."""
    fleet, own = Fleet(nodes), engine()
    own.feed(fleet.inventory(per_job=16))
    spent, note, compare = [0.0], own.families.peers.note, own._comparing.on_tick

    def timed(work: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*args: object) -> Any:
            start = time.process_time()
            result = work(*args)
            spent[0] += time.process_time() - start
            return result

        return inner

    own.families.peers.note = timed(note)  # type: ignore[method-assign]
    own._comparing.on_tick = timed(compare)  # type: ignore[method-assign]
    for second in range(20):
        own.feed(fleet.tick(second))
    spent[0] = 0.0
    batches = [fleet.tick(20 + second) for second in range(20)]
    whole = seconds(lambda: [own.feed(batch) for batch in batches])
    print(
        f"{len(own.series)} series in jobs: {1e3 * whole / 20:.0f} ms a tick, of which twins "
        f"{1e3 * spent[0] / 20:.1f} ms, {spent[0] / whole:.0%}"
    )


def memory(nodes: int) -> None:
    """Print what one series costs in memory, the index included."""
    fleet = Fleet(nodes)
    batch = [fleet.tick(second) for second in range(2)]
    tracemalloc.start()
    own = engine()
    for messages in batch:
        own.feed(messages)
    own.flush()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"{len(own.series)} series: {held / max(1, len(own.series)):.0f} bytes a series")


def main() -> None:
    """Run all."""
    for nodes in (150, 600, 2400):
        race(nodes)
    peers(1340)
    memory(290)


if __name__ == "__main__":
    main()
