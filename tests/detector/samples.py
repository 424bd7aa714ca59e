"""Findings, inventory and messages that tests of decide are made of."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from forewarn import entity as entities
from forewarn import wire
from forewarn.bus import Message
from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement

T0 = 1_764_500_000 * NANOSECONDS
JOB = "4711"
NODES, GPUS = 8, 8
HOT = {"signal": "gpu_temperature_celsius", "movement": "up", "family": "band"}
THROTTLED = {
    "signal": "gpu.clock_event", "movement": "event", "family": "event", "value_class": "code",
    "code": "gpu.clock_event:hw_thermal", "severity": "critical",
}  # fmt: skip
CLOCK_DOWN = {"signal": "gpu_core_clock_hertz", "movement": "down", "family": "band"}
STEP_UP = {"signal": "job_step_seconds", "movement": "step_up", "family": "progress"}
TOKENS_DOWN = {"signal": "job_tokens_per_second", "movement": "step_down", "family": "progress"}
MFU_DOWN = {"signal": "job_mfu_ratio", "movement": "down", "family": "band"}
NAN = {
    "signal": "job.nan", "movement": "event", "family": "progress", "value_class": "nan",
    "code": "job.nan:loss", "severity": "critical",
}  # fmt: skip
GRADIENT_UP = {"signal": "job_gradient_norm", "movement": "grows", "family": "progress"}
LINK_ERRORS = {"signal": "nic_symbol_errors_total", "movement": "grows", "family": "counter"}
XID_79 = {
    "signal": "nvidia.xid", "movement": "event", "family": "event", "value_class": "code",
    "code": "nvidia.xid:79", "severity": "critical",
}  # fmt: skip


def at(seconds: float) -> int:
    """Return the time `seconds` after the start, ns."""
    return T0 + int(seconds * NANOSECONDS)


def gpu(node: int, slot: int) -> str:
    return entities.path("node", f"n{node}", "gpu", f"0000:{slot:02x}:00.0")


def port(node: int) -> str:
    return entities.path("node", f"n{node}", "nic", "mlx5_0", "port", "1")


def job(name: str = JOB) -> str:
    return entities.path("job", name)


def finding(what: dict[str, str], entity: str, seconds: float, **more: Any) -> Finding:
    """Return a finding that opened `seconds` after the start."""
    id_ = f"{what['signal']}|{what['movement']}|{entity}|{seconds:g}"
    fields = {
        "id": id_, "cluster": "c", "entity": entity, "value_class": "number",
        "opened_at_unix_nano": at(seconds), "updated_at_unix_nano": at(seconds), **what, **more,
    }  # fmt: skip
    return msgspec.convert(fields, Finding)


def closed(own: Finding, seconds: float) -> Finding:
    """Return the next revision of a finding: closed `seconds` after the start."""
    return msgspec.structs.replace(
        own, seq=own.seq + 1, updated_at_unix_nano=at(seconds), closed_at_unix_nano=at(seconds)
    )


def inventory(jobs: Sequence[str] = (JOB,), cluster: str = "c") -> list[InventoryItem]:
    """Return 8 nodes of 8 GPUs and a port; all of them work for each of `jobs`."""
    collects = {
        "gpu": ("gpu_temperature_celsius", "gpu_core_clock_hertz", "gpu.clock_event", "nvidia.xid")
    }
    items = []
    for node in range(NODES):
        name = entities.path("node", f"n{node}")
        rack = {"rack": f"r{node // 4}", "model": "H100"}
        items.append(InventoryItem(cluster, name, T0, attributes=rack))
        items.append(InventoryItem(cluster, port(node), T0))
        items += [
            InventoryItem(cluster, gpu(node, slot), T0, collects=collects) for slot in range(GPUS)
        ]
    return items + [own for name in jobs for own in ranks(name, cluster)]


def ranks(name: str, cluster: str = "c") -> Iterable[InventoryItem]:
    """Return a rank of the job on every GPU."""
    for number in range(NODES * GPUS):
        node, slot = divmod(number, GPUS)
        entity = entities.path("job", name, "rank", str(number))
        place = Placement(name, number, f"n{node}", (gpu(node, slot),))
        yield InventoryItem(cluster, entity, T0, placement=place)


def inventory_messages(items: Iterable[InventoryItem]) -> list[Message]:
    return [
        Message("inventory", own.entity, wire.encode_inventory(own), 0, offset, T0)
        for offset, own in enumerate(items)
    ]


def message(own: Finding, offset: int = 0, seconds: float | None = None) -> Message:
    """Return a finding on the bus, appended when it was updated unless told otherwise."""
    time = own.updated_at_unix_nano if seconds is None else at(seconds)
    return Message("findings", own.entity, wire.encode_finding(own), 0, offset, time)
