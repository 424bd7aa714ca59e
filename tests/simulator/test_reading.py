import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import simulator
from forewarn.errors import ConfigError
from simulator import reading

JOB = '[[job]]\nname = "a"\nnodes = ["n01", "n02"]\n'
FAULT = '[[fault]]\nmode = "{mode}"\nentity = "{entity}"\nonset_seconds = {onset}\nseverity = 4.5\n'
GPU = "node/n01/gpu/0000:1b:00.0"


def fault(
    mode: str = "thermal_paste", entity: str = GPU, onset: float = 900, more: str = ""
) -> str:
    return JOB + FAULT.format(mode=mode, entity=entity, onset=onset) + more


@pytest.mark.parametrize("name", sorted(simulator.built_in()))
def test_built_in_scenario_is_valid_by_reader_and_by_schema(name: str) -> None:
    path = simulator.built_in()[name]
    assert simulator.load(path).name == name
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(raw, reading.schema())


def test_demo_has_64_gpus_and_each_fault_once() -> None:
    demo = simulator.load(simulator.built_in()["demo"])
    assert demo.gpus == 64
    assert sorted(fault.mode for fault in demo.fault) == [
        "link_errors",
        "loss_nan",
        "thermal_paste",
    ]


def test_fleet_has_512_gpus_and_five_faults_of_five_layers() -> None:
    fleet = simulator.load(simulator.built_in()["fleet"])
    assert fleet.gpus == 512
    layers = {simulator.faults.FAULTS[fault.mode].layer for fault in fleet.fault}
    assert len(layers) == len(fleet.fault) == 5


def test_healthy_ones_have_no_fault_and_forms_have_every_one_in_every_form() -> None:
    scenarios = {name: simulator.load(path) for name, path in simulator.built_in().items()}
    for name in ("healthy", "healthy-fleet", "lookalikes", "lookalikes-more"):
        assert scenarios[name].fault == ()
    forms = [own for name, own in scenarios.items() if name.startswith("forms-")]
    pairs = {(fault.mode, fault.form) for own in forms for fault in own.fault}
    assert len(pairs) == len(simulator.drawing.SHOWN) * 3


def test_published_schema_is_the_generated_one() -> None:
    assert reading.SCHEMA_PATH.read_text(encoding="utf-8") == reading.schema_text()


def test_schema_refuses_what_the_reader_refuses() -> None:
    raw = {"name": "x", "flete": {}}
    with pytest.raises(jsonschema.ValidationError, match="flete"):
        jsonschema.validate(raw, json.loads(reading.schema_text()))


BAD = {
    "no TOML": ("name = ", "bad.toml: no TOML"),
    "no name": ("", "bad.toml: file: name is missing"),
    "unknown key": ('name = "x"\nflete = 1', "bad.toml: flete: unknown key; did you mean fleet?"),
    "unknown key below": (
        'name = "x"\n[fleet]\nnodez = 2',
        "bad.toml: fleet.nodez: unknown key; did you mean nodes?",
    ),
    "wrong type": ('name = "x"\nduration_seconds = "long"', "bad.toml: duration_seconds: expected"),
    "out of range": ('name = "x"\n[fleet]\ngpus_per_node = 9', "bad.toml: fleet.gpus_per_node:"),
    "unknown form": (
        'name = "x"\n' + fault(more='form = "creeping"'),
        "bad.toml: fault[0].form: must be one of 'sudden', 'gradual', 'intermittent'",
    ),
    "unknown mode": (
        'name = "x"\n' + fault(mode="gremlin"),
        "bad.toml: fault[0].mode: unknown 'gremlin'; one of thermal_paste, ecc_corrected",
    ),
    "no such entity": (
        'name = "x"\n' + fault(entity="node/n99/gpu/0"),
        "bad.toml: fault[0].entity: no gpu 'node/n99/gpu/0' in this scenario; as in node/n0",
    ),
    "wrong kind of entity": (
        'name = "x"\n' + fault(entity="job/a"),
        "bad.toml: fault[0].entity: no gpu 'job/a'",
    ),
    "too early": (
        'name = "x"\n' + fault(onset=100),
        "bad.toml: fault[0].onset_seconds: must be from 375 (detectors learn before) to 1500",
    ),
    "too late": ('name = "x"\n' + fault(onset=1500), "bad.toml: fault[0].onset_seconds: must be"),
    "ends before it begins": (
        'name = "x"\n' + fault(more="end_seconds = 800"),
        "bad.toml: fault[0].end_seconds: must be after onset_seconds (900)",
    ),
    "NaN that heals": (
        'name = "x"\n' + fault("loss_nan", "job/a", more="end_seconds = 1200"),
        "bad.toml: fault[0].end_seconds: loss_nan does not heal; leave it out",
    ),
    "wrong cooling": (
        'name = "x"\n'
        + fault("room_warm", "facility/room-1", more="[fleet.cooling]\nkind = 'liquid'"),
        "bad.toml: fault[0].mode: room_warm needs air cooling",
    ),
    "ranks that do not divide": (
        'name = "x"\n' + JOB + "pipeline = 3",
        "bad.toml: job[0].pipeline: 16 ranks are no multiple of 3 x 1",
    ),
    "unknown node": (
        'name = "x"\n[[job]]\nname = "a"\nnodes = ["n09"]',
        "bad.toml: job[0].nodes: no node 'n09'; the fleet has n01 to n08",
    ),
    "node twice": (
        'name = "x"\n[[job]]\nname = "a"\nnodes = ["n01", "n01"]',
        "bad.toml: job[0].nodes: a node is named twice",
    ),
    "name taken": (
        'name = "x"\n' + JOB + '[[job]]\nname = "a"\nnodes = ["n03"]',
        "bad.toml: job[1].name: 'a' is taken by another job",
    ),
    "two jobs at once": (
        'name = "x"\n' + JOB + '[[job]]\nname = "b"\nnodes = ["n02"]\nstart_seconds = 30',
        "bad.toml: job[1].nodes: 'a' runs on n02 at that time",
    ),
    "job ends first": (
        'name = "x"\n[[job]]\nname = "a"\nnodes = ["n01"]\nstart_seconds = 50\nend_seconds = 40',
        "bad.toml: job[0].end_seconds: must be after start_seconds (50)",
    ),
    "reboot under a job": (
        'name = "x"\n' + JOB + '[[maintenance]]\nkind = "reboot"\nnode = "n02"\nat_seconds = 50',
        "bad.toml: maintenance[0].at_seconds: job 'a' uses n02 then",
    ),
    "reboot of nothing": (
        'name = "x"\n[[maintenance]]\nkind = "reboot"\nnode = "x"\nat_seconds = 50',
        "bad.toml: maintenance[0].node: no node 'x'; the fleet has n01 to n08",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_scenario_is_refused_naming_file_and_key(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(ConfigError) as caught:
        simulator.parse(text, "bad.toml")
    assert str(caught.value).startswith(message)


def test_all_contradictions_are_told_at_once() -> None:
    text = 'name = "x"\n' + fault(mode="gremlin") + fault(onset=1).removeprefix(JOB)
    with pytest.raises(ConfigError) as caught:
        simulator.parse(text, "bad.toml")
    assert len(str(caught.value).splitlines()) == 2


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: No such file"):
        simulator.load(tmp_path / "none.toml")


def test_file_of_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="no UTF-8"):
        simulator.load(path)


def test_a_word_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match="did you mean clock_held"):
        simulator.parse('name = "x"\n' + fault(mode="clock_hold"), "bad.toml")


def test_every_fault_of_no_draw_stands_in_a_scenario_once() -> None:
    scenarios = {name: simulator.load(path) for name, path in simulator.built_in().items()}
    named = {own.mode for name in ("modes-air", "modes-liquid") for own in scenarios[name].fault}
    assert named == simulator.faults.FAULTS.keys() - set(simulator.drawing.SHOWN)


def test_severity_beyond_what_it_can_mean_is_refused() -> None:
    text = 'name = "x"\n' + fault(mode="clock_held").replace("severity = 1.0", "severity = 1.5")
    with pytest.raises(ConfigError, match=r"severity: at most 0\.95 \(share of the clock"):
        simulator.parse(text, "bad.toml")
