"""The frames of a run of bench/recall as arrays: what other methods are given, every ten seconds.

Gauges and states are means over ten seconds, counters rates; a reading that failed is NaN.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

import simulator
from forewarn import entity as entities
from forewarn import wire
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.records import NANOSECONDS, Event, Frame
from simulator.claims import Claims
from simulator.fleet import Machines
from simulator.places import places
from simulator.scenario import Scenario

BUCKET_SECONDS = 10
Floats = NDArray[np.float32]
Nodes = frozenset[int]


class World:
    """All series of a run: `values` is time by series, `nodes` says which nodes each speaks of."""

    def __init__(self, own: Scenario, seed: int) -> None:
        self.scenario = own
        self._index: dict[tuple[str, str], int] = {}
        self._places: dict[bytes, NDArray[np.intp]] = {}
        self._rows: list[Floats] = []
        self.events: list[Event] = []
        self.nans: list[tuple[int, int]] = []  # bucket and series of a loss that is NaN
        sums, counts = np.zeros(0), np.zeros(0)
        bucket = 0
        for instant in simulator.simulate(own, seed):
            second = (instant.time_unix_nano - own.start_unix_nano) // NANOSECONDS
            if second // BUCKET_SECONDS > bucket:
                self._close(sums, counts)
                bucket = second // BUCKET_SECONDS
                sums, counts = np.zeros(len(self._index)), np.zeros(len(self._index))
            self.events += instant.events
            for frame in (*instant.frames, *instant.job_frames):
                sums, counts = self._add(frame, sums, counts)
        self._close(sums, counts)
        self._finish()

    def _add(
        self, frame: Frame, sums: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if frame.layout not in self._places:
            pairs = wire.decode_layout(frame.layout).pairs()
            where = [self._index.setdefault(pair, len(self._index)) for pair in pairs]
            self._places[frame.layout] = np.array(where)
            grown = len(self._index) - len(sums)
            sums = np.concatenate([sums, np.zeros(grown)])
            counts = np.concatenate([counts, np.zeros(grown)])
        values, at = np.frombuffer(frame.values, "<f8"), self._places[frame.layout]
        ok = np.isfinite(values)
        if not ok.all() and frame.source.startswith("reporter:"):
            self.nans += [(len(self._rows), int(own)) for own in at[~ok]]
        sums[at[ok]] += values[ok]
        counts[at[ok]] += 1
        return sums, counts

    def _close(self, sums: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
        with np.errstate(invalid="ignore", divide="ignore"):
            self._rows.append((sums / counts).astype(np.float64))

    def _finish(self) -> None:
        """Put the rows together; turn counters into rates; fill what is read once a minute."""
        width = len(self._index)
        whole = np.full((len(self._rows), width), np.nan)
        for number, row in enumerate(self._rows):
            whole[number, : len(row)] = row
        self._rows.clear()
        self.series = list(self._index)
        for number in range(1, len(whole)):
            gap = np.isnan(whole[number])
            whole[number, gap] = whole[number - 1, gap]
        counters = np.array([CATALOGUE[s].kind is Kind.COUNTER for s, _ in self.series])
        rates = np.diff(whole[:, counters], axis=0, prepend=np.nan) / BUCKET_SECONDS
        rates[rates < 0] = np.nan
        whole[:, counters] = rates
        self.values: Floats = whole.astype(np.float32)
        self.nodes = self._speaks_of()

    def _speaks_of(self) -> list[Nodes]:
        machines = Machines(self.scenario.fleet)
        known, claims = places(machines, self.scenario.job), Claims(machines, self.scenario.job)
        of_root: dict[str, Nodes] = {}
        for kind, members in known.items():
            if kind in {"gpu", "nic_port", "mount", "rank"}:
                continue
            for entity, index in members.items():
                own = claims.at(kind, index) if kind != "job" else claims.nodes(kind, index)
                of_root[entity] = own
        return [of_root.get(entities.root(entity), frozenset()) for _, entity in self.series]

    def by_node(self, scores: Floats, count: int) -> Floats:
        """Return the largest score of all series that speak of each node: time by node."""
        columns: dict[int, list[int]] = defaultdict(list)
        for number, nodes in enumerate(self.nodes):
            for node in nodes:
                columns[node].append(number)
        out = np.zeros((len(scores), count), np.float32)
        for node, own in columns.items():
            out[:, node] = np.nanmax(np.nan_to_num(scores[:, own], nan=0.0), axis=1)
        return out
