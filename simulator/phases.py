"""The phases of a job, and what each asks of a GPU and its node."""

from typing import Literal

import msgspec

PhaseName = Literal["loading", "compile", "step", "checkpoint", "evaluation"]


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What one way of working asks: shares of the device, bytes per second, share of the cores."""

    busy: float
    tensor: float
    memory: float
    power: float
    cpu: float
    pcie: float = 0.0
    scale_up: float = 0.0
    network: float = 0.0
    read: float = 0.0
    write: float = 0.0


# Inside a step a rank computes, then waits for the others and exchanges: collective kernels spin,
# so a waiting GPU looks busy and draws more than half of its power.
COMPUTE = Demand(busy=1.0, tensor=0.58, memory=0.45, power=1.0, cpu=0.12,
                 pcie=1.5e9, scale_up=9e10, network=4e9, read=2e8)  # fmt: skip
EXCHANGE = Demand(busy=1.0, tensor=0.0, memory=0.25, power=0.62, cpu=0.12,
                  pcie=6e9, scale_up=2e11, network=1.8e10)  # fmt: skip
WAIT = Demand(busy=1.0, tensor=0.0, memory=0.10, power=0.50, cpu=0.12)
DATA = Demand(busy=0.0, tensor=0.0, memory=0.02, power=0.08, cpu=0.2, pcie=2e9)
# Phases other than steps are the same on every rank.
DEMANDS: dict[PhaseName, Demand] = {
    "loading": Demand(busy=0.05, tensor=0.0, memory=0.03, power=0.06, cpu=0.35,
                      pcie=8e9, read=8e9),
    "compile": Demand(busy=0.25, tensor=0.05, memory=0.1, power=0.18, cpu=0.55),
    "checkpoint": Demand(busy=0.08, tensor=0.0, memory=0.08, power=0.09, cpu=0.25,
                         pcie=1e10, network=1e9, write=6e9),
    "evaluation": Demand(busy=0.97, tensor=0.46, memory=0.4, power=0.78, cpu=0.1,
                         pcie=1e9, scale_up=6e10, network=1.5e9, read=5e8),
}  # fmt: skip
MEMORY_USED = {"loading": 0.35, "compile": 0.6, "step": 0.87, "checkpoint": 0.87,
               "evaluation": 0.87}  # fmt: skip
