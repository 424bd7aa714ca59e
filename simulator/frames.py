"""Readings become frames, as an agent sends them: what is due, bytes once a layout, gaps, failures.

A node reads its 10-s and 60-s signals at its own phase; all of them at its start. Layout bytes
are made once a node and set of due signals, and are the same bytes object ever after.
"""

import numpy as np

from forewarn.catalogue import CATALOGUE
from forewarn.records import Frame, Layout, Outcome
from forewarn.wire import encode_layout
from simulator.announce import SOURCE
from simulator.fleet import Bools, Floats, Indices, Machines
from simulator.nodes import Nodes
from simulator.scenario import Imperfection
from simulator.seeds import generator
from simulator.signals import (
    GPU_MORE_SIGNALS,
    GPU_SIGNALS,
    LOCAL_MOUNT_SIGNALS,
    NIC_MORE_SIGNALS,
    NIC_SIGNALS,
    NODE_MORE_SIGNALS,
    NODE_SIGNALS,
    SHARED_MOUNT_MORE_SIGNALS,
    SHARED_MOUNT_SIGNALS,
)

PERIODS = (1, 10, 60)
Blocks = tuple[tuple[tuple[str, ...], int], ...]  # signals, and how many of a node have them


class NodeFrames:
    """Makes the frames of all nodes, second by second."""

    def __init__(self, machines: Machines, imperfection: Imperfection, seed: int) -> None:
        self._machines = machines
        width = machines.width
        mounts = ((LOCAL_MOUNT_SIGNALS, 1), (SHARED_MOUNT_SIGNALS, 1))
        core: Blocks = ((GPU_SIGNALS, width), (NIC_SIGNALS, width), (NODE_SIGNALS, 1), *mounts)
        more: Blocks = ((GPU_MORE_SIGNALS, width), (NIC_MORE_SIGNALS, width))
        blocks = (*core, *more, (NODE_MORE_SIGNALS, 1), (SHARED_MOUNT_MORE_SIGNALS, 1))
        self._core = sum(len(names) * count for names, count in core)
        self._signals = [name for names, count in blocks for name in names for _ in range(count)]
        self._first = _first_positions(blocks)
        periods = np.array([CATALOGUE[name].period_seconds for name in self._signals])
        self._due: dict[int, Indices] = {p: np.flatnonzero(periods <= p) for p in PERIODS}
        self._matrix: Floats = np.zeros((len(machines.nodes), len(self._signals)))
        self._layouts: dict[tuple[int, int], bytes] = {}
        self._phase = generator(seed, "frames.phase").integers(0, 60, len(machines.nodes))
        self._lost = generator(seed, "frames.lost")
        self._lost_more = generator(seed, "frames.lost.more")
        self._gpu_at = _gpu_positions(blocks)
        self._imperfection = imperfection
        lossy = generator(seed, "frames.lossy").random(len(machines.nodes))
        often = np.where(lossy < imperfection.lossy_nodes, imperfection.lossy_factor, 1.0)
        self._missed: Floats = np.minimum(imperfection.missed_frame * often, 0.5)

    def fill(self, readings: dict[str, Floats]) -> None:
        """Take one second's readings: a value per GPU, per port or per node."""
        nodes = len(self._machines.nodes)
        for name, values in readings.items():
            first = self._first[name]
            own = values.reshape(nodes, -1)
            self._matrix[:, first : first + own.shape[1]] = own

    def frames(
        self, cluster: str, second: int, nodes: Nodes, lost: Bools, mute: Bools
    ) -> list[Frame]:
        """Return the frames of all nodes that are up, less those that did not arrive.

        Of a GPU that is `lost` every reading fails: the driver still lists it and answers nothing.
        The agent of a node that is `mute` sends nothing.
        """
        gone = lost.reshape(-1, self._machines.width)
        bad = np.atleast_1d(gone.any(axis=1))
        missed = self._lost.random(len(self._phase)) < self._missed
        out = []
        for node in np.flatnonzero(nodes.up & ~mute):
            period = self._period(int(node), second, nodes)
            seq = nodes.next_seq(int(node), SOURCE)
            if not missed[node]:
                silent = gone[node] if bad[node] else None
                out.append(self._frame(cluster, int(node), second, nodes, period, seq, silent))
        return out

    def _period(self, node: int, second: int, nodes: Nodes) -> int:
        """Return the longest period that is due."""
        beat = second + int(self._phase[node])
        if second == nodes.started[node] or beat % 60 < self._machines.beat:
            return 60
        return 10 if beat % 10 < self._machines.beat else 1

    def _frame(
        self, cluster: str, node: int, second: int, nodes: Nodes, period: int, seq: int,
        silent: Bools | None,
    ) -> Frame:  # fmt: skip
        values = self._matrix[node, self._due[period]]
        outcome = self._fail(values, period, silent)
        return Frame(
            cluster=cluster,
            node=self._machines.names[node],
            source=SOURCE,
            seq=seq,
            time_unix_nano=nodes.clock(node, second),
            boot_id=nodes.boot_id[node],
            layout=self._layout(node, period),
            values=values.tobytes(),
            outcome=outcome,
        )

    def _fail(self, values: Floats, period: int, silent: Bools | None) -> bytes:
        """Let a few readings fail, and all of silent GPUs: NaN and FAILED, as the agent does."""
        core = int(np.searchsorted(self._due[period], self._core))
        rate, more = self._imperfection.failed_reading, len(values) - core
        count = self._lost.poisson(rate * core)
        count_more = self._lost_more.poisson(rate * more)
        if not count and not count_more and silent is None:
            return b""
        outcome = np.full(len(values), Outcome.OK, dtype=np.uint8)
        outcome[self._lost.integers(0, core, count)] = Outcome.FAILED
        outcome[core + self._lost_more.integers(0, more, count_more)] = Outcome.FAILED
        if silent is not None:
            at = self._gpu_at[self._due[period]]
            outcome[(at >= 0) & silent[at]] = Outcome.FAILED
        values[outcome != Outcome.OK] = np.nan
        return outcome.tobytes()

    def _layout(self, node: int, period: int) -> bytes:
        key = (node, period)
        if key not in self._layouts:
            self._layouts[key] = encode_layout(self._describe(node, period))
        return self._layouts[key]

    def _describe(self, node: int, period: int) -> Layout:
        machines, own = self._machines, self._machines.gpus_of(node)
        gpus, ports, far = machines.gpus[own], machines.ports[own], machines.shared_mounts[node]
        entities = [*gpus * len(GPU_SIGNALS), *ports * len(NIC_SIGNALS)]
        entities += [machines.nodes[node]] * len(NODE_SIGNALS)
        entities += [machines.local_mounts[node]] * len(LOCAL_MOUNT_SIGNALS)
        entities += [far] * len(SHARED_MOUNT_SIGNALS)
        entities += [*gpus * len(GPU_MORE_SIGNALS), *ports * len(NIC_MORE_SIGNALS)]
        entities += [machines.nodes[node]] * len(NODE_MORE_SIGNALS)
        entities += [far] * len(SHARED_MOUNT_MORE_SIGNALS)
        due = self._due[period]
        return layout([(self._signals[i], entities[i]) for i in due])


def layout(pairs: list[tuple[str, str]]) -> Layout:
    """Return the layout of (signal, entity) pairs in their order."""
    signals = {name: index for index, name in enumerate(dict.fromkeys(s for s, _ in pairs))}
    entities = {name: index for index, name in enumerate(dict.fromkeys(e for _, e in pairs))}
    return Layout(
        tuple(signals),
        tuple(entities),
        tuple(signals[s] for s, _ in pairs),
        tuple(entities[e] for _, e in pairs),
    )


def _gpu_positions(blocks: Blocks) -> Indices:
    """Return for each position which GPU of the node it is of, -1 for none."""
    of_gpus = {GPU_SIGNALS, GPU_MORE_SIGNALS}
    parts = [
        np.tile(np.arange(count) if names in of_gpus else np.full(count, -1), len(names))
        for names, count in blocks
    ]
    return np.concatenate(parts)


def _first_positions(blocks: Blocks) -> dict[str, int]:
    first: dict[str, int] = {}
    position = 0
    for names, count in blocks:
        for name in names:
            first[name] = position
            position += count
    return first
