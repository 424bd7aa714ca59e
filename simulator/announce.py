"""The inventory that agents would send: machines at start, ranks when a job starts and ends."""

import hashlib

from forewarn import entity as entities
from forewarn.records import InventoryItem, Placement
from simulator.fleet import Machines
from simulator.frames import SOURCE
from simulator.job import JobRun
from simulator.signals import (
    CHECKPOINT_SIGNALS,
    GPU_EVENTS,
    GPU_SIGNALS,
    JOB_EVENTS,
    JOB_SIGNALS,
    NIC_SIGNALS,
    NODE_EVENTS,
    NODE_SIGNALS,
    RANK_SIGNALS,
    SCHEDULER,
)


def machines_items(
    machines: Machines, cluster: str, time_unix_nano: int, nodes: range | None = None
) -> list[InventoryItem]:
    """Return an item for every node (of `nodes`), GPU and port, with what is read there."""
    out: list[InventoryItem] = []
    for node in nodes or range(len(machines.nodes)):
        out.append(_node(machines, node, cluster, time_unix_nano))
        own = machines.gpus_of(node)
        for index, gpu in enumerate(machines.gpus[own]):
            out.append(_gpu(machines, gpu, index, cluster, time_unix_nano))
        out += [_port(port, cluster, time_unix_nano) for port in machines.ports[own]]
    return out


def _node(machines: Machines, node: int, cluster: str, now: int) -> InventoryItem:
    attributes = {
        "vendor": machines.hardware.vendor,
        "model": machines.hardware.node_model,
        "rack": machines.racks[node],
        "switch": machines.switches[node],
    }
    collects = {SOURCE: NODE_SIGNALS, SCHEDULER: NODE_EVENTS}
    return InventoryItem(cluster, machines.nodes[node], now, attributes, collects)


def _gpu(machines: Machines, gpu: str, index: int, cluster: str, now: int) -> InventoryItem:
    hardware, mark = machines.hardware, _mark(cluster, gpu)
    attributes = {
        "vendor": hardware.vendor,
        "model": hardware.model,
        "serial": str(int(mark[:12], 16))[:13],
        "uuid": f"GPU-{mark[:8]}-{mark[8:12]}-{mark[12:16]}-{mark[16:20]}-{mark[20:32]}",
        "pci": entities.last_name(gpu),
        "driver": hardware.driver,
        "index": str(index),
    }
    return InventoryItem(cluster, gpu, now, attributes, {SOURCE: GPU_SIGNALS + GPU_EVENTS})


def _port(port: str, cluster: str, now: int) -> InventoryItem:
    attributes = {
        "vendor": "nvidia",
        "model": "ConnectX-7 NDR400",
        "serial": f"MT{_mark(cluster, port)[:10].upper()}",
    }
    return InventoryItem(cluster, port, now, attributes, {SOURCE: NIC_SIGNALS})


def _mark(cluster: str, entity: str) -> str:
    return hashlib.sha256(f"{cluster}/{entity}".encode()).hexdigest()


def job_items(
    run: JobRun, machines: Machines, cluster: str, time_unix_nano: int, removed: bool = False
) -> list[InventoryItem]:
    """Return the items of a job and its ranks with their placement, or their removal."""
    job = run.job.name
    source = f"reporter:{job}"
    attributes = {"ranks": str(len(run.gpus))}
    checkpoints = CHECKPOINT_SIGNALS if run.job.checkpoint_every else ()
    collects = {source: JOB_SIGNALS + checkpoints + JOB_EVENTS}
    entity = entities.path("job", job)
    out = [
        InventoryItem(cluster, entity, time_unix_nano, attributes, collects, removed=removed),
    ]
    for rank, gpu in enumerate(run.gpus):
        place = Placement(
            job=job,
            rank=rank,
            node=machines.names[gpu // machines.width],
            devices=(machines.gpus[gpu],),
            since_unix_nano=time_unix_nano,
        )
        item = InventoryItem(
            cluster=cluster,
            entity=f"{entity}/rank/{rank}",
            time_unix_nano=time_unix_nano,
            collects={source: RANK_SIGNALS},
            placement=place,
            removed=removed,
        )
        out.append(item)
    return out
