"""A fleet of 64 nodes in 16 racks on 4 coolant loops, 2 feeds and 2 rooms, for tests of joining."""

from collections.abc import Iterable

from forewarn import entity as entities
from forewarn.records import InventoryItem, Placement
from tests.detector.samples import GPUS, JOB, T0, gpu

NODES, RACK, LOOP, FEED = 64, 4, 16, 32  # nodes of each
FLOW_DOWN = {
    "signal": "facility_coolant_flow_liters_per_second", "movement": "step_down",
    "family": "band", "severity": "major",
}  # fmt: skip
SWITCH_DOWN = {
    "signal": "switch_up", "movement": "zero", "family": "band", "severity": "critical",
}  # fmt: skip
LINK_DOWN = {
    "signal": "nic.link_state", "movement": "event", "family": "event", "value_class": "code",
    "code": "nic.link_state:down", "severity": "major",
}  # fmt: skip
AGENT_AWAY = {"signal": "agent_up", "movement": "absent", "family": "silence", "severity": "major"}
NODE_AWAY = {"signal": "node_up", "movement": "zero", "family": "band", "severity": "critical"}
VOLTAGE = {
    "signal": "pdu_voltage_volts", "movement": "spike", "family": "band", "severity": "major",
}  # fmt: skip
BOOTED = {
    "signal": "node.boot_id", "movement": "event", "family": "event", "value_class": "code",
    "code": "node.boot_id:changed", "severity": "major",
}  # fmt: skip
SLOW_MOUNT = {
    "signal": "storage_operation_latency_seconds", "movement": "up", "family": "band",
}  # fmt: skip
BUSY_TARGET = {
    "signal": "storage_target_io_seconds_total", "movement": "up", "family": "band",
}  # fmt: skip


def node(number: int) -> str:
    return entities.path("node", f"n{number}")


def port(number: int) -> str:
    return entities.path("node", f"n{number}", "nic", "mlx5_0", "port", "1")


def mount(number: int) -> str:
    return entities.path("node", f"n{number}", "mount", "/data")


def agent(number: int) -> str:
    return entities.path("node", f"n{number}", "agent", "main")


def loop(number: int) -> str:
    return f"cdu/cdu-{number}"


def leaf(rack: int) -> str:
    return f"switch/leaf{rack}"


def gpus(numbers: Iterable[int]) -> list[str]:
    return [gpu(number, slot) for number in numbers for slot in range(GPUS)]


def inventory(job: bool = True) -> list[InventoryItem]:
    """Return all nodes with their GPUs, ports and mounts; one job on all of them, if wanted."""
    items = _racks() + [own for number in range(NODES) for own in _node(number)]
    return items + [own for number in range(NODES) for own in _ranks(number) if job]


def _racks() -> list[InventoryItem]:
    """Return the racks, which hang on their loops as what stands in them does."""
    per_loop = LOOP // RACK
    return [
        InventoryItem("c", f"rack/r{own}", T0, attributes={"loop": f"cdu-{own // per_loop}"})
        for own in range(NODES // RACK)
    ]


def _node(number: int) -> list[InventoryItem]:
    rack = number // RACK
    hangs = {
        "rack": f"r{rack}", "switch": f"leaf{rack}", "loop": f"cdu-{number // LOOP}",
        "feed": f"feed-{number // FEED}", "room": f"room-{number // FEED}",
    }  # fmt: skip
    plug = {"switch_port": f"{leaf(rack)}/port/{number % RACK}"}
    return [
        InventoryItem("c", node(number), T0, attributes=hangs),
        InventoryItem("c", port(number), T0, attributes=plug),
        InventoryItem("c", mount(number), T0, attributes={"storage": f"fs{number // FEED}"}),
        *(InventoryItem("c", own, T0) for own in gpus((number,))),
    ]


def _ranks(number: int) -> Iterable[InventoryItem]:
    for slot in range(GPUS):
        rank = number * GPUS + slot
        place = Placement(JOB, rank, f"n{number}", (gpu(number, slot),))
        yield InventoryItem("c", f"job/{JOB}/rank/{rank}", T0, placement=place)
