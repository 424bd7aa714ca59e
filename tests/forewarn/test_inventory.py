"""Inventory: the latest item of each entity, and what hangs together."""

from typing import Any

from forewarn.inventory import Inventory
from forewarn.records import InventoryItem, Placement

GPU = "node/n7/gpu/0000:1a:00.0"
PORT = "node/n7/nic/mlx5_0/port/1"
RANK = "job/4711/rank/17"


def item(entity: str, time: int = 1, **fields: Any) -> InventoryItem:
    return InventoryItem(cluster="c", entity=entity, time_unix_nano=time, **fields)


def rank(entity: str = RANK, job: str = "4711", node: str = "n7", *devices: str) -> InventoryItem:
    placed = Placement(job=job, rank=17, node=node, devices=devices)
    return item(entity, placement=placed)


def view(*items: InventoryItem) -> Inventory:
    inventory = Inventory()
    for one in items:
        inventory.apply(one)
    return inventory


def test_apply_says_what_changed_the_view() -> None:
    inventory = Inventory()
    assert inventory.apply(item(GPU, attributes={"uuid": "a"}))
    assert not inventory.apply(item(GPU, time=2, attributes={"uuid": "a"}))
    assert inventory.apply(item(GPU, time=3, attributes={"uuid": "b"}))
    assert [one.time_unix_nano for one in inventory] == [3]


def test_older_item_is_ignored() -> None:
    inventory = view(item(GPU, time=5, attributes={"uuid": "new"}))
    assert not inventory.apply(item(GPU, time=4, attributes={"uuid": "old"}))
    assert inventory.attribute(GPU, "uuid") == "new"


def test_removed_entity_is_gone_with_its_placement() -> None:
    inventory = view(rank(RANK, "4711", "n7", GPU))
    assert inventory.apply(item(RANK, time=2, removed=True))
    assert len(inventory) == 0
    assert inventory.get(RANK) is None
    assert inventory.ranks("4711") == {}
    assert inventory.job_of(GPU) == ""
    assert not inventory.apply(item(RANK, time=3, removed=True))


def test_attribute_is_taken_from_the_nearest_above() -> None:
    inventory = view(
        item("node/n7", attributes={"rack": "r12", "model": "chassis"}),
        item(GPU, attributes={"model": "H100"}),
    )
    assert inventory.attribute(GPU, "model") == "H100"
    assert inventory.attribute(GPU, "rack") == "r12"
    assert inventory.attribute(GPU, "loop") is None


def test_parents_are_by_name_and_then_by_attribute() -> None:
    node = item("node/n7", attributes={"rack": "r12", "switch": "leaf3", "loop": "1", "feed": "b"})
    assert view(node).parents(GPU) == (
        "node/n7", "rack/r12", "switch/leaf3", "cdu/1", "pdu/b",
    )  # fmt: skip


def test_room_storage_and_the_plug_of_a_port_are_parents() -> None:
    inventory = view(
        item("node/n7", attributes={"rack": "r12", "switch": "leaf3", "room": "east"}),
        item(PORT, attributes={"switch_port": "switch/leaf3/port/9"}),
        item("node/n7/mount/data", attributes={"storage": "fs1"}),
    )
    assert set(inventory.parents(PORT)) == {
        "node/n7", "node/n7/nic/mlx5_0", "switch/leaf3/port/9", "switch/leaf3", "rack/r12",
        "facility/east",
    }  # fmt: skip
    assert "storage_target/fs1" in inventory.parents("node/n7/mount/data")
    assert inventory.below("storage_target/fs1") == {"node/n7/mount/data"}
    assert PORT in inventory.below("switch/leaf3/port/9")


def test_rack_that_names_itself_is_not_its_own_parent() -> None:
    inventory = view(item("rack/r12", attributes={"rack": "r12", "loop": "1"}))
    assert inventory.parents("rack/r12") == ("cdu/1",)
    assert inventory.below("rack/r12") == set()


def test_version_rises_with_every_change_of_the_view_and_only_then() -> None:
    inventory = view(item(GPU))
    before = inventory.version
    inventory.apply(item(GPU, time=2))
    assert inventory.version == before
    inventory.apply(item(GPU, time=3, attributes={"uuid": "x"}))
    inventory.apply(item(GPU, time=4, removed=True))
    assert inventory.version == before + 2


def test_collects_is_what_a_source_reads_and_the_device_can_give() -> None:
    inventory = view(
        item(
            GPU,
            collects={"nvml": ("gpu_power_watts", "gpu_fan_ratio"), "dcgm": ("gpu_energy_joules",)},
            unsupported=("gpu_fan_ratio",),
        )
    )
    assert inventory.collects(GPU, "gpu_power_watts")
    assert inventory.collects(GPU, "gpu_energy_joules")
    assert not inventory.collects(GPU, "gpu_fan_ratio")
    assert not inventory.collects(GPU, "gpu_temperature_celsius")
    assert not inventory.collects("node/n7/gpu/other", "gpu_power_watts")


def test_collectors_are_the_entities_within() -> None:
    reads = {"nvml": ("gpu_power_watts",)}
    inventory = view(*(item(f"node/{n}/gpu/0", collects=reads) for n in ("n7", "n70", "n8")))
    assert inventory.collectors("gpu_power_watts", "node/n7") == ["node/n7/gpu/0"]
    assert inventory.collectors("gpu_fan_ratio", "node/n7") == []


def test_ranks_are_those_of_the_job() -> None:
    inventory = view(rank("job/a/rank/0", "a"), rank("job/b/rank/0", "b"))
    assert list(inventory.ranks("a")) == ["job/a/rank/0"]
    assert inventory.ranks("none") == {}


def test_rank_that_moves_leaves_its_old_place() -> None:
    inventory = view(rank(RANK, "4711", "n7", GPU))
    inventory.apply(
        item(RANK, time=2, placement=Placement(job="4711", rank=17, node="n8")),
    )
    assert inventory.jobs_on(GPU) == set()
    assert inventory.jobs_on("node/n8") == {"4711"}


def test_job_of_a_device_is_the_one_placed_on_it() -> None:
    inventory = view(rank(RANK, "4711", "n7", GPU))
    assert inventory.job_of(GPU) == "4711"
    assert inventory.job_of(f"{GPU}/mig/3") == "4711"
    assert inventory.job_of("node/n7/gpu/0000:1b:00.0") == ""


def test_job_of_a_part_that_no_rank_names_is_that_of_its_node() -> None:
    inventory = view(rank(RANK, "4711", "node/n7", GPU))
    assert inventory.job_of(PORT) == "4711"
    assert inventory.job_of("node/n7") == "4711"
    assert inventory.job_of("rack/r12") == ""


def test_job_of_a_node_with_two_jobs_is_left_open() -> None:
    inventory = view(
        rank("job/a/rank/0", "a", "n7", "node/n7/gpu/0"),
        rank("job/b/rank/0", "b", "n7", "node/n7/gpu/1"),
    )
    assert inventory.job_of(PORT) == ""
    assert inventory.jobs_on("node/n7") == {"a", "b"}
    assert inventory.job_of("node/n7/gpu/1") == "b"


def test_job_of_a_rank_is_in_its_name() -> None:
    assert view().job_of("job/train%2F1/rank/3") == "train/1"
