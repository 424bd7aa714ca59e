"""`forewarn up`: agent, detect and decide of one machine in one process."""

import click
from prometheus_client import CollectorRegistry

from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, run_all, stop_on_signals


@click.command()
@click.pass_obj
def up(invocation: Invocation) -> None:
    """Watch this machine: agent, detect and decide in one process, until stopped.

    With the embedded bus (the default) nothing else is needed. Metrics: agent 9467, detect 9468,
    decide 9469 (each on 127.0.0.1 unless set otherwise).
    """
    stop = stop_on_signals()
    import detector.decide
    import detector.detect
    from exporters.agent import Agent

    settings = invocation.settings
    registries = {stage: CollectorRegistry() for stage in ("agent", "detect", "decide")}
    bus = make_bus(settings, "forewarn-up", registries["detect"])
    node = Agent(settings, bus.producer(), registries["agent"])
    click.echo(
        f"watching {settings.agent.node_name()}: metrics http://{settings.agent.listen}/metrics, "
        f"incidents http://{settings.decide.listen}/incidents; stop with Ctrl-C",
        err=True,
    )
    jobs = {
        "decide": lambda: detector.decide.run(bus, settings, stop, registries["decide"]),
        "detect": lambda: detector.detect.run(bus, settings, stop, registries["detect"]),
        "agent": lambda: node.run(stop),
    }
    raise SystemExit(run_all(jobs, stop))
