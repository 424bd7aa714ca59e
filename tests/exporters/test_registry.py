from pathlib import Path

import pytest

import exporters
from exporters import registry
from exporters.collector import Collector, Host
from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE
from forewarn.errors import ConfigError
from tests.exporters.fakes import Everything, table

ROOT = Path(exporters.__file__).parent
# Modules of the collector folders that are no collectors: parts of the streams.
PARTS = {
    "kernel_log", "kernel_lines", "kernel_rules", "kernel_cursor", "parts", "xid",
    "jobs", "lines", "signals", "reporter",
    "follower", "megatron", "huggingface", "job_log", "job_logs", "error_lines",
    "ports", "sources", "counters", "link", "ethtool",
}  # fmt: skip


def collectors(host: Host) -> list[Collector]:
    return registry.build(host)


def test_every_collector_module_is_in_the_table() -> None:
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"]
    paths = [path for folder in folders for path in folder.iterdir()]
    found = [p for p in paths if p.suffix == ".py" or (p / "__init__.py").exists()]
    modules = {path.stem for path in found} - {"__init__"}
    assert modules - PARTS == set(registry.COLLECTORS)


def test_every_collector_is_named_as_in_the_table(captured: Host) -> None:
    assert [c.name for c in collectors(captured)] == list(registry.COLLECTORS)


def test_every_signal_is_a_metric_of_the_catalogue(captured: Host) -> None:
    for collector in collectors(captured):
        assert collector.signals
        assert all(CATALOGUE[signal].is_metric for signal in collector.signals)


def test_no_signal_has_two_collectors(captured: Host) -> None:
    signals = [signal for c in collectors(captured) for signal in c.signals]
    assert len(signals) == len(set(signals))


@pytest.mark.parametrize("name", registry.COLLECTORS)
def test_a_collector_hands_back_only_what_is_due_and_declared(name: str, captured: Host) -> None:
    collector = registry.COLLECTORS[name](captured)
    assert collector.read(frozenset()) == []
    wanted = collector.signals[0]
    assert {m.signal for m in collector.read({wanted})} <= {wanted}
    assert {m.signal for m in collector.read(Everything())} <= set(collector.signals)


@pytest.mark.parametrize("name", registry.COLLECTORS)
def test_every_reading_is_at_an_entity_of_the_catalogues_kind(name: str, captured: Host) -> None:
    for m in registry.COLLECTORS[name](captured).read(Everything()):
        assert entities.check(m.entity)
        assert entities.kind(m.entity) == CATALOGUE[m.signal].entity


def test_a_machine_without_devices_is_honest(empty: Host) -> None:
    names = ("interfaces", "memory_errors", "pcie", "pressure")
    found = [m for n in names for m in registry.COLLECTORS[n](empty).read(Everything())]
    assert set(table(found).values()) == {"UNSUPPORTED"}


def test_a_disabled_collector_is_left_out(captured: Host) -> None:
    names = [c.name for c in registry.build(captured, ["pcie", "kernel_log"])]
    assert "pcie" not in names
    assert len(names) == len(registry.COLLECTORS) - 1


def test_disabling_an_unknown_name_is_an_error(captured: Host) -> None:
    with pytest.raises(ConfigError, match=r"agent.disable: unknown disks; one of adapters, clock"):
        registry.build(captured, ["disks"])
