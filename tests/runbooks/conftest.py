"""Makers of findings, inventories and small tables that the runbook's tests share."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, cast

import pytest

import runbooks
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from runbooks import Entry, Table
from runbooks.load import parse_entry

START = 1_750_000_000 * NANOSECONDS
BASE: dict[str, Any] = {
    "rev": 1, "status": "active", "owner": "tests", "kind": "cause", "layer": "gpu-core",
    "entity": "gpu", "severity": "major",
}  # fmt: skip

MakeFinding = Callable[..., Finding]
MakeEntry = Callable[..., Entry]
MakeTable = Callable[..., Table]
MakeInventory = Callable[..., Inventory]


@pytest.fixture(scope="session")
def builtin() -> Table:
    return runbooks.load()


@pytest.fixture
def finding() -> MakeFinding:
    numbers = count(1)

    def make(entity: str, signal: str, movement: str, code: str = "", **more: Any) -> Finding:
        seconds = more.pop("seconds", 0.0)
        time = START + int(seconds * NANOSECONDS)
        fields: dict[str, Any] = {
            "id": f"f{next(numbers)}", "cluster": "c", "family": "band", "value_class": "number",
            "opened_at_unix_nano": time, "updated_at_unix_nano": time,
        }  # fmt: skip
        return Finding(
            entity=entity, signal=signal, movement=cast("Any", movement), code=code,
            **(fields | more),
        )  # fmt: skip

    return make


@pytest.fixture
def entry() -> MakeEntry:
    def make(own: str, **keys: Any) -> Entry:
        data = {"id": own, "title": {"en": own, "zh": own}} | BASE | keys
        raw = json.dumps(data).encode()  # JSON is YAML
        made, problems = parse_entry(f"{own}.yaml", raw)
        assert made is not None, problems
        return made

    return make


@pytest.fixture
def table(entry: MakeEntry) -> MakeTable:
    def make(*entries: Entry | Mapping[str, Any]) -> Table:
        made = [own if isinstance(own, Entry) else entry(own["id"], **own) for own in entries]
        return Table(
            {own.id: own for own in made}, where={own.id: f"{own.id}.yaml:1" for own in made}
        )

    return make


@pytest.fixture
def inventory() -> MakeInventory:
    def make(
        collects: Mapping[str, Sequence[str]] | None = None,
        attributes: Mapping[str, Mapping[str, str]] | None = None,
        ranks: Mapping[str, Placement] | None = None,
        unsupported: Mapping[str, Sequence[str]] | None = None,
    ) -> Inventory:
        read, known = collects or {}, attributes or {}
        cannot, placed = unsupported or {}, ranks or {}
        own = Inventory()
        for entity in sorted({*read, *known, *cannot, *placed}):
            own.apply(
                InventoryItem(
                    "c", entity, START, dict(known.get(entity, {})),
                    {"source": tuple(read[entity])} if entity in read else {},
                    tuple(cannot.get(entity, ())), placed.get(entity),
                )
            )  # fmt: skip
        return own

    return make
