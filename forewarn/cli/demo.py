"""`forewarn demo`: a simulated cluster with injected faults, and this machine's real sensors."""

import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forewarn.cli.console import json_option
from forewarn.cli.demo_show import JsonShow, Show, TerminalShow
from forewarn.cli.here import Here
from forewarn.cli.line import Line
from forewarn.cli.main import Invocation
from forewarn.cli.score import Score, score
from forewarn.config import Settings

if TYPE_CHECKING:
    from simulator import Scenario

RANDOM_SEEDS = 1_000_000
GPUS_PER_NODE = 8
FLEET_NODES = 32  # below this the faults of racks, switches and loops have no neighbours
FAULTS = 5
SMALL = ("thermal_paste", "link_errors", "loss_nan")


class _Seed(click.ParamType[int]):
    name = "integer|random"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if value == "random":
            return secrets.randbelow(RANDOM_SEEDS)
        if not str(value).isdigit():
            self.fail(f"{value!r} is neither a whole number nor the word random", param, ctx)
        return int(str(value))


@click.command()
@click.option("--seed", type=_Seed(), default=1, show_default=True, help="Draws faults and noise.")
@click.option(
    "--scenario", type=click.Path(path_type=Path), help="A scenario file instead of a draw."
)
@click.option(
    "--gpus",
    type=click.IntRange(64, 4096),
    default=512,
    show_default=True,
    help="Simulated GPUs, eight a node; fewer than 256 draw from three small faults.",
)
@click.option(
    "--faults",
    type=click.IntRange(0, 12),
    help="How many, each of another layer: 5, or 3 if small.",
)
@click.option("--real/--no-real", default=True, show_default=True, help="Read this machine, too.")
@json_option
@click.pass_obj
def demo(
    invocation: Invocation, seed: int, scenario: Path | None, gpus: int, faults: int | None,
    real: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run 512 simulated GPUs, inject five faults, and show what Forewarn makes of them.

    Ends with a table of injected, found, delay and cause. Exit code 0 only if each fault was found
    with its cause first and nothing else was raised on the simulated cluster.
    """
    import simulator

    own = simulator.load(scenario) if scenario else _draw(seed, gpus, faults)
    show: Show = JsonShow() if as_json else TerminalShow(invocation.language)
    here = Here() if real else None
    with tempfile.TemporaryDirectory(prefix="forewarn-demo-") as directory:
        result = _run(own, seed, Path(directory), show)
    if here is not None:
        show.here(here.finish())
    show.score(result)
    raise SystemExit(0 if result.perfect else 1)


def _draw(seed: int, gpus: int, faults: int | None) -> "Scenario":
    """Draw from the faults of every layer, on a small cluster from those that fit on it."""
    import simulator

    nodes = -(-gpus // GPUS_PER_NODE)
    if nodes < FLEET_NODES:
        few = len(SMALL) if faults is None else faults
        return simulator.draw(seed, nodes=nodes, faults=few, modes=SMALL)
    return simulator.draw(seed, nodes=nodes, faults=FAULTS if faults is None else faults)


def _run(scenario: "Scenario", seed: int, directory: Path, show: Show) -> Score:
    import runbooks
    import simulator

    simulation = simulator.simulate(scenario, seed)
    line = Line(Settings(cluster=scenario.cluster), directory, runbooks.load())
    show.begin(scenario, seed)
    for instant in simulation:
        now = instant.time_unix_nano
        line.publish(now, instant.frames, instant.job_frames, instant.events, instant.inventory)
        show.step(line.step(), now)
    show.step(line.finish(), line.now)
    show.end(line)
    result = score(simulation.truth, line.incidents())
    line.close()
    return result
