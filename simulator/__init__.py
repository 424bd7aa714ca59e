"""A physical cluster that never was: seeded, with its ground truth beside."""

from simulator.drawing import draw
from simulator.instant import Instant
from simulator.reading import built_in, load, parse
from simulator.scenario import Scenario
from simulator.simulation import Simulation, simulate
from simulator.truth import Truth

__all__ = [
    "Instant", "Scenario", "Simulation", "Truth", "built_in", "draw", "load", "parse", "simulate",
]  # fmt: skip
