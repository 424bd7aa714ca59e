"""The inventory that agents would send: machines at start, ranks when a job starts and ends."""

import hashlib

from msgspec.structs import replace

from forewarn import entity as entities
from forewarn.records import InventoryItem, Placement
from simulator import signals
from simulator.fleet import SHARED, Machines
from simulator.hardware import Hardware
from simulator.job import JobRun

SOURCE = "agent"
NEWER_DRIVER = "580.95.05"


class Announcer:
    """Makes the inventory of machines; times are Unix nanoseconds."""

    def __init__(self, machines: Machines, cluster: str) -> None:
        self._machines, self._cluster = machines, cluster
        self._updated: set[int] = set()  # nodes with the newer driver
        self._replaced: dict[str, int] = {}  # how often a device was

    def update_driver(self, node: int) -> None:
        """Say the newer version from now on."""
        self._updated.add(node)

    def replace(self, entity: str) -> None:
        """Say another serial number and uuid from now on."""
        self._replaced[entity] = self._replaced.get(entity, 0) + 1

    def nodes(self, time_unix_nano: int, which: range | None = None) -> list[InventoryItem]:
        """Return an item for every node (of `which`) and its parts, with what is read there."""
        out: list[InventoryItem] = []
        for node in which or range(len(self._machines.nodes)):
            out += self._node(node, time_unix_nano)
        return out

    def _node(self, node: int, now: int) -> list[InventoryItem]:
        machines = self._machines
        own = machines.gpus_of(node)
        out = [self._host(node, now)]
        model = machines.models[node]
        if node in self._updated:
            model = replace(model, driver=NEWER_DRIVER)
        out += [self._gpu(gpu, i, model, now) for i, gpu in enumerate(machines.gpus[own])]
        ports = range(own.start, own.stop)
        return out + [self._port(port, now) for port in ports] + self._mounts(node, now)

    def _host(self, node: int, now: int) -> InventoryItem:
        hardware = self._machines.models[node]
        attributes = {"vendor": hardware.vendor, "model": hardware.node_model}
        attributes |= rack_attributes(self._machines, int(self._machines.rack_of[node]))
        own = signals.NODE_SIGNALS + signals.NODE_MORE_SIGNALS + signals.NODE_EVENTS
        collects = {SOURCE: own, signals.SCHEDULER: signals.SCHEDULER_EVENTS}
        return InventoryItem(self._cluster, self._machines.nodes[node], now, attributes, collects)

    def _gpu(self, gpu: str, index: int, hardware: Hardware, now: int) -> InventoryItem:
        mark = self._mark(gpu)
        attributes = {
            "vendor": hardware.vendor,
            "model": hardware.model,
            "serial": str(int(mark[:12], 16))[:13],
            "uuid": f"GPU-{mark[:8]}-{mark[8:12]}-{mark[12:16]}-{mark[16:20]}-{mark[20:32]}",
            "pci": entities.last_name(gpu),
            "driver": hardware.driver,
            "index": str(index),
        }
        own = signals.GPU_SIGNALS + signals.GPU_MORE_SIGNALS + signals.GPU_EVENTS
        return InventoryItem(self._cluster, gpu, now, attributes, {SOURCE: own})

    def _port(self, port: int, now: int) -> InventoryItem:
        entity = self._machines.ports[port]
        attributes = {
            "vendor": "nvidia",
            "model": "ConnectX-7 400G",
            "serial": f"MT{self._mark(entity)[:10].upper()}",
            "switch_port": self._machines.switch_port(port),
        }
        own = signals.NIC_SIGNALS + signals.NIC_MORE_SIGNALS + signals.NIC_EVENTS
        return InventoryItem(self._cluster, entity, now, attributes, {SOURCE: own})

    def _mounts(self, node: int, now: int) -> list[InventoryItem]:
        machines = self._machines
        storage = machines.storages[machines.storage_of[machines.rack_of[node]]]
        shared = {"type": "nfs4", "device": f"{storage}:{SHARED}", "storage": storage}
        local = {"type": "xfs", "device": "/dev/md0"}
        own, name = {SOURCE: signals.LOCAL_MOUNT_SIGNALS}, machines.local_mounts[node]
        more = signals.SHARED_MOUNT_MORE_SIGNALS + signals.SHARED_MOUNT_EVENTS
        other, far = {SOURCE: signals.SHARED_MOUNT_SIGNALS + more}, machines.shared_mounts[node]
        return [
            InventoryItem(self._cluster, name, now, local, own),
            InventoryItem(self._cluster, far, now, shared, other),
        ]

    def _mark(self, entity: str) -> str:
        times = self._replaced.get(entity, 0)
        text = f"{self._cluster}/{entity}" + (f"/{times}" if times else "")
        return hashlib.sha256(text.encode()).hexdigest()


def rack_attributes(machines: Machines, rack: int) -> dict[str, str]:
    """Return what a rack, and whatever stands in it, hangs on."""
    out = {
        "rack": machines.racks[rack],
        "switch": machines.switches[rack],
        "feed": machines.feeds[machines.feed_of[rack]],
        "room": machines.rooms[machines.room_of[rack]],
    }
    if machines.liquid:
        out["loop"] = machines.loops[machines.loop_of[rack]]
    return out


def job_items(
    run: JobRun, machines: Machines, cluster: str, time_unix_nano: int, removed: bool = False
) -> list[InventoryItem]:
    """Return the items of a job and its ranks with their placement, or their removal."""
    job = run.job
    source, entity = f"reporter:{job.name}", entities.path("job", job.name)
    attributes = {
        "ranks": str(len(run.gpus)), "pipeline": str(job.pipeline), "tensor": str(job.tensor),
    }  # fmt: skip
    checkpoints = signals.CHECKPOINT_SIGNALS if job.checkpoint_every else ()
    collects = {source: signals.JOB_SIGNALS + checkpoints + signals.JOB_EVENTS}
    out = [
        InventoryItem(cluster, entity, time_unix_nano, attributes, collects, removed=removed),
    ]
    for rank in range(len(run.gpus)):
        item = InventoryItem(
            cluster=cluster,
            entity=f"{entity}/rank/{rank}",
            time_unix_nano=time_unix_nano,
            collects={source: signals.RANK_SIGNALS + signals.RANK_EVENTS},
            placement=_placement(run, machines, rank, time_unix_nano),
            removed=removed,
        )
        out.append(item)
    return out


def _placement(run: JobRun, machines: Machines, rank: int, now: int) -> Placement:
    gpu = int(run.gpus[rank])
    return Placement(
        job=run.job.name,
        rank=rank,
        node=machines.names[gpu // machines.width],
        devices=(machines.gpus[gpu],),
        stage=int(run.ranks.stage[rank]),
        tensor=int(run.ranks.tensor[rank]),
        since_unix_nano=now,
    )
