"""`forewarn detect` and `forewarn decide`: one stage as a process of its own."""

import click
from prometheus_client import REGISTRY

from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, need_shared_bus, run_all, stop_on_signals


@click.command()
@click.pass_obj
def detect(invocation: Invocation) -> None:
    """Turn frames and events into findings, until stopped.

    Any number of these may run: Kafka shares the partitions among them. /metrics is served at
    detect.listen.
    """
    stop = stop_on_signals()
    from detector.detect import run

    settings = invocation.settings
    need_shared_bus(settings, "detect")
    bus = make_bus(settings, "forewarn-detect", REGISTRY)
    raise SystemExit(run_all({"detect": lambda: run(bus, settings, stop, REGISTRY)}, stop))


@click.command()
@click.pass_obj
def decide(invocation: Invocation) -> None:
    """Turn findings into incidents and tell of them, until stopped.

    Exactly one of these runs in a cluster: it owns the database. The API and /metrics are served
    at decide.listen.
    """
    stop = stop_on_signals()
    from detector.decide import run

    settings = invocation.settings
    need_shared_bus(settings, "decide")
    bus = make_bus(settings, "forewarn-decide", REGISTRY)
    raise SystemExit(run_all({"decide": lambda: run(bus, settings, stop, REGISTRY)}, stop))
