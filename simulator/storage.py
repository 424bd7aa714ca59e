"""Shared file systems and the mounts that use them: how long operations take, what is moved."""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.seeds import generator

LATENCY_SECONDS, LATENCY_NOISE = 2.5e-3, 0.45  # a file operation; noise in log, per reading
BUSY_FACTOR = 2.0  # on latency, while a node moves as much as it can
NODE_BYTES_PER_SECOND = 10e9
# A loader prefetches what slow operations would cost until they take this many times as long;
# beyond, a rank waits this share of a step per time.
PREFETCH_FACTOR, STARVED_SHARE = 3.0, 0.03
SLOT_SHARE = 0.6  # of a slow operation is spent waiting for a slot of the client
OPERATION_BYTES = 1 << 20
LOOKUPS_PER_SECOND, METADATA_SECONDS = 2000.0, 8e-4
METADATA_FREE = 3.0  # times the ordinary load that a metadata server takes without queueing
BACKLOG_PER_SECOND = 4.0  # requests held back, per time slower


class Storages:
    """All shared file systems; mounts are in the order of `Machines.nodes`."""

    def __init__(self, machines: Machines, seed: int) -> None:
        self._of_node, self._beat = machines.storage_of[machines.rack_of], machines.beat
        made, count = generator(seed, "storage.made"), len(machines.storages)
        self._noise = generator(seed, "storage.noise")
        nodes = len(machines.nodes)
        self._read: Floats = np.floor(made.uniform(1e15, 1e16, count))
        self._written: Floats = np.floor(made.uniform(1e14, 1e15, count))
        self._busy_seconds: Floats = made.uniform(1e4, 1e6, count)
        self._used = made.uniform(0.4, 0.7, count)
        self._operations: Floats = np.floor(made.uniform(1e7, 1e8, nodes))
        self._backlogged: Floats = np.zeros(nodes)
        self._saturation: Floats = np.ones(count)
        self._moving: Floats = np.zeros(nodes)
        self._far: Floats = np.ones(nodes)
        self._filled: Floats = np.zeros(count)
        self._metadata: Floats = np.ones(count)
        self._writes: Floats = np.ones(count)
        self._rare = generator(seed, "storage.rare")
        self._lookups: Floats = np.zeros(count)
        self._evictions: Floats = np.zeros(nodes)
        self._timeouts: Floats = np.zeros(nodes)

    def waiting(self) -> Floats:
        """Return the share of a step that ranks of each node wait for data beyond the ordinary."""
        beyond = np.maximum(self._saturation - PREFETCH_FACTOR, 0.0)
        share: Floats = STARVED_SHARE * beyond[self._of_node]
        return share

    def slowdown(self) -> Floats:
        """Return by what factor loading and checkpoints of each node take longer."""
        factor: Floats = np.sqrt(self._saturation[self._of_node])
        return factor

    def writing(self) -> Floats:
        """Return by what factor checkpoints of each node take longer."""
        factor: Floats = self.slowdown() * self._writes[self._of_node]
        return factor

    def _suffer(self, knobs: Knobs) -> None:
        self._far, self._filled = knobs.far.copy(), knobs.target_filled.copy()
        self._metadata, self._writes = knobs.metadata.copy(), knobs.writes_slow.copy()
        rate = self._beat * LOOKUPS_PER_SECOND * self._metadata
        self._lookups += self._rare.poisson(rate)
        self._evictions += knobs.evicted
        self._timeouts += knobs.unanswered

    def advance(self, load: Load, knobs: Knobs) -> None:
        """Go on by one beat."""
        self._saturation, beat = knobs.saturation.copy(), self._beat
        self._suffer(knobs)
        count = len(self._read)
        self._read += np.floor(beat * np.bincount(self._of_node, load.storage_read, count))
        self._written += np.floor(beat * np.bincount(self._of_node, load.storage_write, count))
        self._moving = (load.storage_read + load.storage_write) / NODE_BYTES_PER_SECOND
        moved = self._moving * NODE_BYTES_PER_SECOND / OPERATION_BYTES
        self._operations += np.floor(beat * (20.0 + moved))
        busy = 0.1 + 0.3 * np.bincount(self._of_node, self._moving.clip(0, 1), count)
        share = np.where(self._saturation > 1.5, 0.99, np.minimum(busy, 0.95))
        self._busy_seconds += beat * share
        slower = self._saturation[self._of_node] - 1.0
        self._backlogged += np.floor(beat * BACKLOG_PER_SECOND * slower)

    def mounts(self) -> dict[str, Floats]:
        """Return what the clients report, by node."""
        noise = self._noise.normal(size=(2, len(self._moving)))
        factor = self._saturation[self._of_node] * self._far
        latency = LATENCY_SECONDS * factor * (1.0 + BUSY_FACTOR * self._moving.clip(0, 1))
        latency *= np.exp(LATENCY_NOISE * noise[0])
        waiting = np.where(factor > PREFETCH_FACTOR, SLOT_SHARE * latency, 2e-4)
        return {
            "storage_operation_latency_seconds": latency,
            "storage_operations_total": self._operations,
            "storage_rpc_slot_wait_seconds": waiting * np.exp(0.3 * noise[1]),
            "storage_rpc_backlogged_requests_total": self._backlogged,
            "storage_mount_probe_seconds": 1.2e-3 * factor * np.exp(0.3 * noise[1]),
            "storage_client_evictions_total": self._evictions,
            "storage_rpc_timeouts_total": self._timeouts,
        }

    def targets(self) -> dict[str, Floats]:
        """Return what the servers report."""
        queued = np.maximum(self._metadata / METADATA_FREE, 1.0)
        used: Floats = np.maximum(self._used, self._filled).round(4)
        latency: Floats = METADATA_SECONDS * queued
        latency *= self._rare.lognormal(0.0, LATENCY_NOISE, len(self._read))
        return {
            "storage_read_bytes_total": self._read,
            "storage_write_bytes_total": self._written,
            "storage_target_io_seconds_total": self._busy_seconds,
            "storage_errors_total": np.zeros(len(self._read)),
            "storage_target_used_ratio": used,
            "storage_metadata_operations_total": self._lookups,
            "storage_metadata_latency_seconds": latency,
        }
