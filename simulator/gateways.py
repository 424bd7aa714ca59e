"""Frames of what is read beside the nodes, each kind by an agent of its own.

A gateway is a source with its own node name, clock, boot id and sequence, and sends a frame when
something of its is due: every 10 s, at its own phase. A reading of NaN is one that failed.
"""

import numpy as np

from forewarn.catalogue import CATALOGUE
from forewarn.records import Frame, Outcome
from forewarn.wire import encode_layout
from simulator.fleet import Floats
from simulator.frames import layout
from simulator.nodes import Nodes
from simulator.plant import NAMES, SOURCES, Plant
from simulator.scenario import Imperfection
from simulator.seeds import generator

BEAT_SECONDS, SLOW_SECONDS = 10, 60
POSITIONS = 10_000  # a frame holds at most; a large fabric is read in several


class Gateways:
    """All gateways of a cluster."""

    def __init__(self, plant: Plant, nodes: Nodes, imperfection: Imperfection, seed: int) -> None:
        self._blocks, self._core = plant.blocks, plant.core
        self._nodes, self._imperfection = nodes, imperfection
        self._phase = generator(seed, "gateways.phase").integers(0, SLOW_SECONDS, len(NAMES))
        self._lost = generator(seed, "gateways.lost")
        self._lost_more = generator(seed, "gateways.lost.more")
        self._layouts: dict[tuple[int, bool], list[tuple[bytes, slice]]] = {}
        self._beat = plant.beat

    def due(self, second: int) -> list[int]:
        """Return the gateways that read in this second; all do at the start."""
        beats = (second + self._phase) % BEAT_SECONDS
        return [own for own in range(len(NAMES)) if second == 0 or beats[own] < self._beat]

    def frames(
        self, cluster: str, second: int, own: int, readings: dict[str, Floats]
    ) -> list[Frame]:
        """Return what a gateway sends of `readings`, which are by entity of each signal."""
        slow = second == 0 or (second + int(self._phase[own])) % SLOW_SECONDS < self._beat
        values = np.concatenate(
            [readings[name] for names, _ in self._blocks[own] for name in _due(names, slow)]
        )
        core = sum(len(_due(names, slow)) * len(members) for names, members in self._core[own])
        chance = np.concatenate(
            [self._lost.random(core), self._lost_more.random(len(values) - core)]
        )
        values[chance < self._imperfection.failed_reading] = np.nan
        out = [
            self._frame(cluster, second, own, data, values[where])
            for data, where in self._layout(own, slow)
        ]
        missed = self._lost.random() < self._imperfection.missed_frame
        return [] if missed else out

    def _frame(self, cluster: str, second: int, own: int, data: bytes, values: Floats) -> Frame:
        failed = np.isnan(values)
        outcome = np.where(failed, Outcome.FAILED, Outcome.OK).astype(np.uint8)
        return Frame(
            cluster=cluster,
            node=NAMES[own],
            source=SOURCES[own],
            seq=self._nodes.next_seq(own, SOURCES[own]),
            time_unix_nano=self._nodes.clock(own, second),
            boot_id=self._nodes.boot_id[own],
            layout=data,
            values=values.tobytes(),
            outcome=outcome.tobytes() if failed.any() else b"",
        )

    def _layout(self, own: int, slow: bool) -> list[tuple[bytes, slice]]:
        """Return layouts and which values each holds; made once."""
        if (own, slow) not in self._layouts:
            pairs = [
                (name, entity)
                for names, entities in self._blocks[own]
                for name in _due(names, slow)
                for entity in entities
            ]
            parts = [slice(i, i + POSITIONS) for i in range(0, len(pairs), POSITIONS)]
            made = [(encode_layout(layout(pairs[part])), part) for part in parts]
            self._layouts[own, slow] = made
        return self._layouts[own, slow]


def _due(names: tuple[str, ...], slow: bool) -> list[str]:
    return [name for name in names if slow or CATALOGUE[name].period_seconds <= BEAT_SECONDS]
