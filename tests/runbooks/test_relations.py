from collections.abc import Callable
from typing import Any

import pytest

from forewarn.inventory import Inventory
from forewarn.records import InventoryItem, Placement
from runbooks.relations import Relations

Make = Callable[..., Any]
GPU, OTHER = "node/n7/gpu/0", "node/n8/gpu/0"
PORT = "node/n7/nic/mlx5_0/port/1"


@pytest.fixture
def cluster(inventory: Make) -> Inventory:
    made: Inventory = inventory(
        {GPU: ["gpu_power_watts"], OTHER: [], PORT: [], "node/n7/mount/data": []},
        {"node/n7": {"rack": "r1", "switch": "s1", "loop": "c1"}, "node/n8": {"rack": "r1"}},
        {
            "job/j/rank/0": Placement("j", 0, "n7", (GPU,)),
            "job/j/rank/1": Placement("j", 1, "n8", (OTHER,)),
        },
    )
    return made


def test_inventory_knows_what_hangs_on_what(cluster: Inventory) -> None:
    assert cluster.below("node/n7") == {GPU, PORT, "node/n7/mount/data"}
    assert cluster.below("rack/r1") == {
        "node/n7", "node/n8", GPU, OTHER, PORT, "node/n7/mount/data",
    }  # fmt: skip
    assert cluster.below("cdu/c1") == {"node/n7", GPU, PORT, "node/n7/mount/data"}
    assert cluster.below("rack/none") == set()
    assert cluster.ranks_on(GPU) == {"job/j/rank/0"}


def test_what_moved_no_longer_hangs_there(cluster: Inventory) -> None:
    moved = InventoryItem("c", "node/n8", 1 << 62, {"rack": "r2"})
    cluster.apply(moved)
    assert "node/n8" not in cluster.below("rack/r1")
    assert cluster.below("rack/r2") == {"node/n8", OTHER}
    cluster.apply(InventoryItem("c", OTHER, 1 << 62, removed=True))
    assert cluster.below("rack/r2") == {"node/n8"}


@pytest.mark.parametrize(
    ("entity", "at", "places"),
    [
        (GPU, "gpu", {GPU}), (GPU, "node", {"node/n7"}), (GPU, "rack", {"rack/r1"}),
        (GPU, "switch", {"switch/s1"}), (GPU, "facility", {"cdu/c1"}), (GPU, "job", {"job/j"}),
        (GPU, "rank", {"job/j/rank/0"}), (GPU, "nic", {PORT}),
        (GPU, "storage", {"node/n7/mount/data"}), (PORT, "gpu", {GPU}),
        (PORT, "rank", {"job/j/rank/0"}), ("node/n7", "gpu", {GPU}),
        ("job/j", "gpu", {GPU, OTHER}), ("job/j", "node", {"node/n7", "node/n8"}),
        ("job/j", "rank", {"job/j/rank/0", "job/j/rank/1"}), ("job/j", "rack", {"rack/r1"}),
        ("job/j/rank/1", "gpu", {OTHER}), ("job/j/rank/1", "job", {"job/j"}),
        ("rack/r1", "gpu", {GPU, OTHER}), ("rack/r1", "node", {"node/n7", "node/n8"}),
    ],
)  # fmt: skip
def test_places_of_a_predicate(cluster: Inventory, entity: str, at: Any, places: set[str]) -> None:
    assert Relations(cluster, (), "").places(entity, at) == places


def test_incidents_job_stands_in_where_none_is_known(inventory: Make, finding: Make) -> None:
    empty = inventory()
    assert Relations(empty, (), "j").jobs(GPU) == {"j"}
    told = finding(GPU, "gpu_power_watts", "up", job="k")
    assert Relations(empty, (told,), "j").jobs(GPU) == {"k"}
    assert Relations(empty, (), "").jobs(GPU) == set()


def test_without_placement_what_was_joined_to_the_job_is_its_own(
    inventory: Make, finding: Make
) -> None:
    hot = finding(GPU, "gpu_temperature_celsius", "up")
    relations = Relations(inventory(), (hot,), "j")
    assert relations.places("job/j", "gpu") == {GPU}
    assert relations.meet("job/j", "job", GPU)


def test_storage_and_halls_serve_all(inventory: Make, finding: Make) -> None:
    slow = finding("storage_target/ost1", "storage_metadata_latency_seconds", "up")
    hall = finding("facility/hall", "facility_room_temperature_celsius", "up")
    relations = Relations(inventory(), (slow, hall), "j")
    assert relations.meet(GPU, "storage", "storage_target/ost1")
    assert relations.meet(GPU, "facility", "facility/hall")
    assert relations.meet(GPU, "fleet", "node/far/gpu/1")
    assert not relations.meet(GPU, "node", "node/far")
