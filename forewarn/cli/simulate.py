"""`forewarn simulate`: run a scenario; write a recording, publish it, or print it."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from prometheus_client import REGISTRY

from forewarn import entity as entities
from forewarn import wire
from forewarn.bus import Message, TopicName
from forewarn.cli.console import emit, json_option, utc
from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, need_shared_bus, stop_on_signals
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from simulator import Instant, Scenario, Simulation, Truth

Put = Callable[[TopicName, str, bytes, int], None]


@click.command()
@click.argument("scenario", required=False)
@click.option("--draw", "drawn", type=int, help="Draw a scenario from this seed instead of a file.")
@click.option("--seed", type=int, default=1, show_default=True, help="Noise of the simulation.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a recording for `replay`.")
@click.option("--publish", is_flag=True, help="Publish to the configured bus, in real time.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Times real time.")
@click.option("--serve", metavar="HOST:PORT", help="With --publish: show the readings on /metrics.")
@click.option("--modes", is_flag=True, help="List the ways to fail that a scenario may name.")
@click.option("--truth", "only_truth", is_flag=True, help="Print the ground truth only.")
@json_option
@click.pass_obj
def simulate(
    invocation: Invocation, scenario: str | None, drawn: int | None, seed: int, out: Path | None,
    publish: bool, speed: float, serve: str | None, modes: bool, only_truth: bool, as_json: bool,
) -> None:  # fmt: skip
    """Simulate a cluster from SCENARIO: a TOML file, or the name of a built-in one.

    Built in are demo (64 GPUs), fleet (512), healthy, healthy-fleet, lookalikes, lookalikes-more,
    the faults of a draw each in each form, forms-*, and all others once, modes-*. What a scenario
    file may hold is in docs/simulator.md and its JSON Schema. Without --out, --publish or --truth
    every frame is printed, one JSON object a line.

    \b
    Examples:
      forewarn simulate demo --out demo.fwrec && forewarn replay demo.fwrec
      forewarn simulate --draw 7 --truth
      forewarn simulate --modes
      forewarn --config forewarn.toml simulate healthy --publish --speed 10
      forewarn --config forewarn.toml simulate demo --publish --serve 127.0.0.1:9467
    """
    import simulator

    if modes:
        _list_modes(as_json)
        return
    if serve and not publish:
        raise click.UsageError("--serve shows what --publish sends; give both")
    own = _scenario(scenario, drawn)
    if publish:
        own = msgspec.structs.replace(own, start=dt.datetime.now(dt.UTC))
    run = simulator.simulate(own, seed)
    if not only_truth:
        if publish:
            _publish(invocation, run, speed, serve)
        elif out is not None:
            _write(own.cluster, run, out)
        else:
            _print(run)
    for truth in run.truth:
        _tell(truth, as_json)
    if not run.truth:
        click.echo("no fault is injected", err=True)


def _scenario(scenario: str | None, drawn: int | None) -> "Scenario":
    import simulator

    if (scenario is None) == (drawn is None):
        raise click.UsageError("name a SCENARIO or give --draw, one of the two")
    if drawn is not None:
        return simulator.draw(drawn)
    name = str(scenario)
    path = simulator.built_in().get(name, Path(name))
    if not path.exists():
        known = ", ".join(simulator.built_in())
        raise click.UsageError(f"no file and no built-in scenario {name!r}; built in: {known}")
    return simulator.load(path)


def _list_modes(as_json: bool) -> None:
    """Say of every way to fail where it can happen, how strong, and what should be found."""
    from simulator.faults import FAULTS, expected_of

    for mode in FAULTS.values():
        low, high = mode.severities
        expected = expected_of(mode)
        if as_json:
            emit({"kind": "mode", "mode": mode.name, "layer": mode.layer,
                  "entity_kind": mode.entity_kind, "cooling": mode.cooling,
                  "severity": mode.severity_help, "severities": mode.severities,
                  "expected": expected})  # fmt: skip
            continue
        cooling = f", {mode.cooling} cooling" if mode.cooling else ""
        click.echo(
            f"{mode.name}: {mode.layer}, at a {mode.entity_kind}{cooling}; severity {low:g} to "
            f"{high:g} ({mode.severity_help}); expected {' or '.join(expected)}"
        )


def messages(instant: "Instant") -> Iterator[tuple[TopicName, str, bytes]]:
    """Return topic, key and value of everything an instant holds, as an agent publishes it."""
    for item in instant.inventory:
        yield "inventory", item.entity, wire.encode_inventory(item)
    for event in instant.events:
        key = event.node or entities.root(event.entity)
        yield "events", key, wire.encode_event(event)
    for frame in instant.job_frames:
        yield "jobs", frame.source.partition(":")[2], wire.encode_frame(frame)
    for frame in instant.frames:
        yield "frames", frame.node, wire.encode_frame(frame)


def _write(cluster: str, run: "Simulation", path: Path) -> None:
    from forewarn.recording import Writer

    offset = 0
    with Writer(path, cluster) as writer:
        for instant in run:
            for topic, key, value in messages(instant):
                writer.write(Message(topic, key, value, 0, offset, instant.time_unix_nano))
                offset += 1
    click.echo(f"{offset} messages in {path}, {path.stat().st_size / 1e6:.1f} MB", err=True)


def _publish(invocation: Invocation, run: "Simulation", speed: float, serve: str | None) -> None:
    """Publish each simulated second when it is due."""
    from exporters.exposition import Server
    from forewarn.cli.exposed import Exposed

    settings = invocation.settings
    need_shared_bus(settings, "simulate --publish")
    stop = stop_on_signals()
    bus = make_bus(settings, "forewarn-simulate", REGISTRY)
    producer = bus.producer()
    shown = Exposed(REGISTRY)
    server = Server(serve, REGISTRY, "--serve") if serve else None
    begun, first = time.monotonic(), None
    for instant in run:
        first = first or instant.time_unix_nano
        due = begun + (instant.time_unix_nano - first) / NANOSECONDS / speed
        if stop.wait(max(0.0, due - time.monotonic())):
            break
        for topic, key, value in messages(instant):
            producer.publish(topic, key, value)
        shown.show(instant)
    if server is not None:
        server.close()
    producer.close()
    bus.close()


def _print(run: "Simulation") -> None:
    layouts = wire.LayoutCache()
    for instant in run:
        for frame in (*instant.frames, *instant.job_frames):
            emit({"kind": "frame", "frame": frame, "pairs": layouts.get(frame.layout).pairs()})
        for event in instant.events:
            emit({"kind": "event", "event": event})


def _tell(truth: "Truth", as_json: bool) -> None:
    if as_json:
        emit({"kind": "truth", "truth": truth})
        return
    click.echo(
        f"{utc(truth.onset_unix_nano)}  {truth.mode} ({truth.form}) at {truth.entity}, "
        f"d' {truth.d_prime:.0f}, expected cause {' or '.join(truth.expected)}"
    )
