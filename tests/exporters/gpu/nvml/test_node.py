from collections.abc import Callable

import pytest

from exporters import registry
from exporters.collector import CollectorError, Host
from exporters.devices import Compound
from exporters.gpu.nvml.api import AbsentError, Nvml
from exporters.gpu.nvml.library import Library
from exporters.gpu.nvml.node import Nvml as Node
from tests.exporters.fakes import Clock, Everything, table
from tests.exporters.gpu.nvml.fakes import Binding, nvml

SLOTS = ("0000:1a:00.0", "0000:2a:00.0")


@pytest.fixture
def two(empty: Host, put: Callable[[str, str], None]) -> Host:
    """A node with two accelerators on its bus."""
    for slot in SLOTS:
        put(f"sys/bus/pci/devices/{slot}/vendor", "0x10de\n")
        put(f"sys/bus/pci/devices/{slot}/class", "0x030200\n")
    return empty


def absent() -> Nvml:
    raise AbsentError("no NVIDIA driver library")


def test_each_gpu_of_the_bus_is_a_collector(two: Host) -> None:
    names = [own.name for own in registry.build(two)]
    assert names[-2:] == [f"nvml:{slot}" for slot in SLOTS]
    assert "nvml" in names


def test_disabling_it_leaves_out_its_gpus(two: Host) -> None:
    assert not [own for own in registry.build(two, ["nvml"]) if own.name.startswith("nvml")]


def test_it_has_parts_and_others_have_not(two: Host) -> None:
    compounds = [own.name for own in registry.build(two) if isinstance(own, Compound)]
    assert compounds == ["nvml"]


def test_without_a_library_everything_is_unsupported_and_said_once(
    two: Host, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(two, Library(absent))
    found = [table(node.read(Everything())) for _ in range(3)]
    assert found[-1] == {
        (s, ""): "UNSUPPORTED" for s in ("node_gpus_present", "node_gpus_expected")
    }
    [card, _] = node.parts()
    assert {m.outcome.name for m in card.read({"gpu_power_watts"})} == {"UNSUPPORTED"}
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_node_without_gpus_says_it_quietly(empty: Host, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    Node(empty, Library(absent)).read(Everything())
    assert [record.levelname for record in caplog.records] == ["INFO"]


def test_a_driver_that_does_not_answer_fails_the_count(two: Host, clock: Clock) -> None:
    node = Node(two, Library(lambda: nvml(Binding()), clock.monotonic))
    with pytest.raises(CollectorError, match=r"cannot be used \(nvmlInit: error 3\)"):
        node.read(Everything())
    [card, _] = node.parts()
    assert {m.outcome.name for m in card.read({"gpu_power_watts"})} == {"FAILED"}


def test_a_gpu_of_the_bus_that_the_driver_does_not_find_is_missed(two: Host) -> None:
    binding = Binding()
    binding.functions = {"nvmlInit": lambda: None, "nvmlDeviceGetCount": lambda: 0}
    node = Node(two, Library(lambda: nvml(binding)))
    counts = {"node_gpus_present", "node_gpus_expected"}
    assert table(node.read(counts)) == {("node_gpus_present", ""): 0, ("node_gpus_expected", ""): 2}
    [card, _] = node.parts()
    with pytest.raises(CollectorError, match="nvmlDeviceGetHandleByPciBusId"):
        card.read({"gpu_power_watts"})


def test_nothing_due_asks_nothing(two: Host) -> None:
    binding = Binding()
    assert Node(two, Library(lambda: nvml(binding))).read(frozenset()) == []
    assert binding.asked == []
