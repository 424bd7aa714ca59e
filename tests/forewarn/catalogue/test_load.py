"""The catalogue: every row loads, every contradiction is told with its line."""

import csv
from pathlib import Path

import pytest

from forewarn.catalogue import CATALOGUE, Bad, Floor, Kind, load
from forewarn.catalogue.load import COLUMNS, PATH, unit_of
from forewarn.errors import CatalogueError, UnknownSignalError

GAUGE = {
    "name": "gpu_temperature_celsius", "alias": "gpu.temp", "number": "1", "kind": "gauge",
    "layer": "gpu", "entity": "gpu", "unit": "celsius", "period_s": "1", "bad": "high",
    "floor": "", "quantum": "1", "may_be_nan": "no", "saturates_at": "", "context": "",
    "peers": "node,model", "otel": "", "help_en": "Heat.", "help_zh": "温度。",
}  # fmt: skip
EVENT = GAUGE | {
    "name": "nvidia.xid", "alias": "", "kind": "event", "unit": "code", "bad": "any_increase",
    "quantum": "", "peers": "none",
}  # fmt: skip


def write(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "planted.csv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_every_row_of_the_file_is_loaded() -> None:
    with PATH.open(encoding="utf-8", newline="") as handle:
        names = [row["name"] for row in csv.DictReader(handle)]
    assert list(CATALOGUE) == names
    assert len(names) > 300


def test_a_row_is_typed(tmp_path: Path) -> None:
    limit = GAUGE | {"name": "gpu_temperature_limit_celsius", "alias": ""}
    row = GAUGE | {"floor": "device:gpu_temperature_limit_celsius", "alias": "gpu.temp;gpu.heat"}
    signal = load(write(tmp_path, row, limit))["gpu_temperature_celsius"]
    assert signal.kind is Kind.GAUGE
    assert signal.bad is Bad.HIGH
    assert signal.floor == Floor(device="gpu_temperature_limit_celsius")
    assert signal.aliases == ("gpu.temp", "gpu.heat")
    assert signal.peers == ("node", "model")
    assert signal.quantum == 1.0
    assert signal.help.zh == "温度。"


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("", None),
        ("90", Floor(number=90.0)),
        ("-3.5", Floor(number=-3.5)),
        ("1000/s", Floor(number=1000.0, per_second=True)),
        ("device:gpu_power_limit_watts", Floor(device="gpu_power_limit_watts")),
    ],
)
def test_floor_is_read_in_each_spelling(text: str, floor: Floor | None) -> None:
    assert Floor.parse(text) == floor


@pytest.mark.parametrize("text", ["high", "90C", "1e3", "device:", "/s", "device:GPU"])
def test_floor_of_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number, number/s or device:signal"):
        Floor.parse(text)


PLANTED = {
    "kind": ({"kind": "dial"}, "'dial' is not a valid Kind"),
    "bad side": ({"bad": "up"}, "'up' is not a valid Bad"),
    "floor": ({"floor": "hot"}, "floor 'hot' is no number"),
    "period no number": ({"period_s": "often"}, "invalid literal for int"),
    "period": ({"period_s": "7"}, r"period_s must be one of \[1, 10, 60\]"),
    "quantum": ({"quantum": "x"}, "could not convert string to float"),
    "nan flag": ({"may_be_nan": "maybe"}, "may_be_nan 'maybe' is neither yes nor no"),
    "name": ({"name": "GPU_Temp_celsius"}, "GPU_Temp_celsius is no metric name"),
    "event name": ({"kind": "event", "unit": "code"}, "is no event name"),
    "entity": ({"entity": "toaster"}, "unknown entity 'toaster'"),
    "unit unknown": ({"unit": "furlongs"}, "unknown unit 'furlongs'"),
    "unit of the name": ({"unit": "watts"}, "unit 'watts' is not the one its name ends in"),
    "bare unit": ({"unit": "count"}, "unit 'count' is not the one its name ends in"),
    "peers": ({"peers": "node,friends"}, r"unknown peers \['friends'\]"),
    "help": ({"help_zh": ""}, "help is missing in one language"),
    "total": ({"kind": "counter"}, "counters, and only they, end in _total"),
    "rate": ({"floor": "5/s"}, "only a counter has a limit per second"),
    "saturation": ({"saturates_at": "15"}, "only a counter saturates"),
    "context": ({"context": "gpu_mood_ratio"}, "refers to gpu_mood_ratio, which is no signal"),
    "device": ({"floor": "device:gpu_x_celsius"}, "its limit gpu_x_celsius is no signal"),
    "other entity": ({"floor": "device:node_limit_celsius"}, "stands at another kind of entity"),
    "alias twice": ({"alias": "node.limit"}, "alias node.limit names both"),
    "alias of a name": ({"alias": "node_limit_celsius"}, "alias node_limit_celsius names both"),
}


@pytest.mark.parametrize(("change", "message"), PLANTED.values(), ids=PLANTED)
def test_planted_contradiction_is_told_with_its_line(
    change: dict[str, str], message: str, tmp_path: Path
) -> None:
    other = GAUGE | {"name": "node_limit_celsius", "alias": "node.limit", "entity": "node"}
    with pytest.raises(CatalogueError, match=rf"^planted\.csv:3: .*{message}"):
        load(write(tmp_path, other, GAUGE | change))


def test_name_twice_is_told_at_the_second(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"planted\.csv:3: gpu_temperature_celsius stands tw"):
        load(write(tmp_path, GAUGE, GAUGE | {"alias": ""}))


def test_event_with_another_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="the unit of an event is code"):
        load(write(tmp_path, EVENT | {"unit": "count"}))


def test_all_contradictions_are_listed_in_the_order_of_lines(tmp_path: Path) -> None:
    rows = (GAUGE | {"context": "gpu_x_ratio"}, EVENT | {"entity": "toaster"})
    with pytest.raises(CatalogueError) as caught:
        load(write(tmp_path, *rows))
    where = [line.split(": ")[0] for line in str(caught.value).splitlines()]
    assert where == ["planted.csv:2", "planted.csv:3"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("name,kind\n", r"planted\.csv:1: columns must be name,alias"),
        (",".join(COLUMNS) + "\na,b\n", r"planted\.csv:2: wrong number of fields"),
        (",".join(COLUMNS) + "\n" + "x," * 30 + "\n", r"planted\.csv:2: wrong number of fields"),
        (",".join(COLUMNS) + '\n"a"b,\n', r"planted\.csv:2: ',' expected after"),
    ],
)
def test_broken_file_is_told_with_its_line(body: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.csv"
    path.write_text(body, encoding="utf-8")
    with pytest.raises(CatalogueError, match=message):
        load(path)


def test_resolve_takes_names_and_aliases() -> None:
    for signal in CATALOGUE.values():
        assert CATALOGUE.resolve(signal.name) is signal
        for alias in signal.aliases:
            assert CATALOGUE.resolve(alias) is signal


def test_resolve_of_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(UnknownSignalError, match=r"did you mean .*gpu_temperature_celsius"):
        CATALOGUE.resolve("gpu_temprature_celsius")


def test_resolve_of_nothing_near_has_no_hint() -> None:
    with pytest.raises(UnknownSignalError, match=r"^unknown signal '@@@@'$"):
        CATALOGUE.resolve("@@@@")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("gpu_energy_joules_total", "joules"),
        ("nic_rx_bytes_per_second", "bytes_per_second"),
        ("gpu_throttle_active", None),
        ("nic_symbol_errors_total", None),
    ],
)
def test_unit_of_a_name_is_its_longest_ending(name: str, unit: str | None) -> None:
    assert unit_of(name) == unit


def test_nan_is_allowed_where_a_loss_may_diverge_only() -> None:
    allowed = [signal.name for signal in CATALOGUE.values() if signal.may_be_nan]
    assert allowed == ["job_loss", "job_gradient_norm"]
