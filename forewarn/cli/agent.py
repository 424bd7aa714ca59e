"""`forewarn agent`: the exporters of this node."""

import threading
from typing import TYPE_CHECKING, Any

import click
from prometheus_client import REGISTRY, CollectorRegistry

from forewarn import entity as entities
from forewarn.cli.console import emit, json_option, readable
from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, need_shared_bus, run_all, stop_on_signals
from forewarn.config import Settings
from forewarn.memory import MemoryBus

if TYPE_CHECKING:
    from exporters.agent import Agent


def once(settings: Settings, agent: "type[Agent]") -> list[Any]:
    """Read every collector once, publishing nothing."""
    return list(agent(settings, MemoryBus().producer(), CollectorRegistry()).once())


@click.command()
@click.option("--once", "only_once", is_flag=True, help="Read everything once, print it, and end.")
@json_option
@click.pass_obj
def agent(invocation: Invocation, only_once: bool, as_json: bool) -> None:
    """Read the sensors of this node, until stopped: /metrics and the bus.

    With --once each line says: ok; unsupported, where this machine has no such thing; failed, where
    reading went wrong; or not_due, where a value needs a second reading or its turn has not come.

    \b
    Examples:
      forewarn agent --once --json | head     one object a line: time, entity, signal, value, ...
      forewarn --config forewarn.toml agent   publish to the bus of the configuration
    """
    stop = threading.Event() if only_once else stop_on_signals()
    from exporters.agent import Agent

    settings = invocation.settings
    if only_once:
        _print(once(settings, Agent), as_json)
        return
    need_shared_bus(settings, "agent")
    bus = make_bus(settings, "forewarn-agent", REGISTRY)
    own = Agent(settings, bus.producer(), REGISTRY)
    raise SystemExit(run_all({"agent": lambda: own.run(stop)}, stop))


def _print(samples: list[Any], as_json: bool) -> None:
    for sample in samples:
        if as_json:
            emit(sample)
            continue
        value = "-" if sample.value is None else readable(sample.value)
        mark = click.style(
            f"{sample.outcome:<11}", fg="green" if sample.outcome == "ok" else "yellow"
        )
        where = entities.shown(sample.entity)
        click.echo(f"{mark} {where:<50} {sample.signal:<44} {value:>14} {sample.unit}")
