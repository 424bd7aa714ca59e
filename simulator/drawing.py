"""Draws a random scenario: a fleet with jobs and faults of different layers, all from a seed.

Faults begin after the first quarter and are fully developed at least 120 s before the end. No two
reach the same nodes or jobs, so that the truth says which incident belongs to which. Severities are
even in log over the mode's range (see `Mode`): d' from about 6 to 100 where there is noise, the
upper half of it in the intermittent form, which has less time to show.
"""

import math

import numpy as np

from simulator.check import check
from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.faults.fault import Mode
from simulator.fleet import Machines
from simulator.lineup import harmless, jobs
from simulator.places import Places, places
from simulator.scenario import AirCooling, Cooling, Fault, Fleet, Form, Job, LiquidCooling, Scenario
from simulator.seeds import generator

# The faults that a random scenario shows; the others come by scenario files and in bench/recall.
# Their order is part of the draw: another one draws other scenarios from the same seeds.
SHOWN = (
    "thermal_paste", "ecc_corrected", "ecc_uncorrected", "gpu_lost", "link_crc", "pcie_width",
    "link_errors", "link_flapping", "switch_down", "congestion", "storage_saturated", "disk_full",
    "cpu_contention", "host_oom", "coolant_flow_loss", "rack_restricted", "coolant_warm",
    "room_warm", "supplies_lost", "data_starved", "slow_loader", "loss_nan",
)  # fmt: skip
FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")
DURATION_SECONDS = 1500
TAIL_SECONDS = 150.0  # at least, from onset to the end
DEVELOPED_SECONDS = 120.0  # at least, from full severity to the end
TRIES = 200
LIQUID_SHARE = 0.6  # of the fleets
SWING_CELSIUS, SWING_SECONDS = 0.4, 2400.0  # a chiller's cycle
RAW_METERS = 0.25
# Largest reach first: what is left for the small ones is always enough to look for.
WIDE = ("facility", "storage_target", "cdu", "rack", "switch", "job", "rank")


def draw(
    seed: int,
    duration_seconds: int = DURATION_SECONDS,
    nodes: int = 64,
    faults: int = 5,
    modes: tuple[str, ...] = SHOWN,
) -> Scenario:
    """Return a scenario with `faults` faults of different layers, drawn from `modes`.

    The same arguments draw the same scenario. `nodes` of at least two a fault are needed.

    Raises:
        ValueError: if the faults cannot be kept apart, or there is too little time.

    """
    if duration_seconds / 4 + 2 * TAIL_SECONDS > duration_seconds:
        raise ValueError(f"{duration_seconds} s: too short to learn, fail and be found")
    random = generator(seed, "draw")
    fleet = Fleet(nodes=nodes, cooling=_cooling(modes, random), raw_meters=RAW_METERS)
    own = jobs(fleet.node_names(), random)
    drawer = _Drawer(fleet, own, duration_seconds, random)
    drawn = drawer.faults(_fitting(modes, fleet), faults)
    own, works = harmless(own, drawer.free(), duration_seconds, random)
    scenario = Scenario(
        name=f"draw-{seed}", duration_seconds=duration_seconds, fleet=fleet, job=own,
        fault=drawn, maintenance=works,
    )  # fmt: skip
    check(scenario, scenario.name)
    return scenario


def _cooling(modes: tuple[str, ...], random: np.random.Generator) -> Cooling:
    liquid = random.random() < LIQUID_SHARE
    kinds = {FAULTS[name].cooling for name in modes}
    if len(modes) == 1 and kinds != {""}:
        liquid = kinds == {"liquid"}
    kind = LiquidCooling if liquid else AirCooling
    return kind(swing_celsius=SWING_CELSIUS, swing_seconds=SWING_SECONDS)


def _fitting(modes: tuple[str, ...], fleet: Fleet) -> list[Mode]:
    kind = "liquid" if isinstance(fleet.cooling, LiquidCooling) else "air"
    return [own for name in modes if (own := FAULTS[name]).cooling in {"", kind}]


class _Drawer:
    """Draws faults into one fleet and keeps what each reaches apart."""

    def __init__(
        self, fleet: Fleet, own: tuple[Job, ...], duration: int, random: np.random.Generator
    ) -> None:
        machines = Machines(fleet)
        self._jobs, self._duration, self._random = own, duration, random
        self._places: Places = places(machines, own)
        self._claims = Claims(machines, own)
        self._taken: frozenset[int] = frozenset()

    def free(self) -> list[int]:
        """Return which jobs no fault reaches, the smallest first."""
        claim = [self._claims.nodes("job", index) for index in range(len(self._jobs))]
        free = [index for index, nodes in enumerate(claim) if not nodes & self._taken]
        return sorted(free, key=lambda index: len(claim[index]))

    def faults(self, modes: list[Mode], count: int) -> tuple[Fault, ...]:
        """Return faults of different layers that do not meet, in the order of their onset."""
        for _ in range(TRIES):
            self._taken = frozenset()
            drawn = [self._fault(mode) for mode in self._choose(modes, count)]
            found = [fault for fault in drawn if fault is not None]
            if len(found) == count:
                return tuple(sorted(found, key=lambda fault: fault.onset_seconds))
        raise ValueError(f"{count} faults of different layers cannot be kept apart in this fleet")

    def _choose(self, modes: list[Mode], count: int) -> list[Mode]:
        """Choose modes as they come, one a layer; those of the widest reach stand first."""
        one_each: dict[str, Mode] = {}
        for place in self._random.permutation(len(modes)):
            mode = modes[int(place)]
            one_each.setdefault(mode.layer, mode)
        return sorted(list(one_each.values())[:count], key=_reach)

    def _fault(self, mode: Mode) -> Fault | None:
        """Return a fault where nothing is taken yet, or None."""
        entity = self._entity(mode)
        if entity is None:
            return None
        form, ramp = FORMS[self._random.integers(len(FORMS))], float(self._random.integers(60, 150))
        on, off = float(self._random.integers(60, 100)), float(self._random.integers(20, 40))
        develops = {"sudden": 0.0, "gradual": ramp, "intermittent": 2 * (on + off) + on}
        latest = self._duration - max(TAIL_SECONDS, develops[form] + DEVELOPED_SECONDS)
        low, high = mode.severities
        if form == "intermittent":
            low = math.sqrt(low * high)
        return Fault(
            mode=mode.name,
            entity=entity,
            onset_seconds=float(self._random.integers(self._duration // 4 + 1, int(latest))),
            severity=round(math.exp(self._random.uniform(math.log(low), math.log(high))), 3),
            form=form,
            ramp_seconds=ramp,
            on_seconds=on,
            off_seconds=off,
        )

    def _entity(self, mode: Mode) -> str | None:
        known = list(self._places[mode.entity_kind].items())
        for place in self._random.permutation(len(known)):
            entity, index = known[int(place)]
            reach = self._claims.nodes(mode.entity_kind, index)
            if not reach & self._taken:
                self._taken |= reach
                return entity
        return None


def _reach(mode: Mode) -> int:
    return WIDE.index(mode.entity_kind) if mode.entity_kind in WIDE else len(WIDE)
