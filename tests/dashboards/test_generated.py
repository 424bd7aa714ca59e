"""The committed dashboards: fresh, valid, laid out, and naming only what is known."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dashboards import metrics
from dashboards.__main__ import GENERATED, drift, files, main, write
from dashboards.own import OWN
from dashboards.table import DASHBOARDS
from forewarn.catalogue import CATALOGUE
from forewarn.language import LANGUAGES
from tests.dashboards import queries

SCHEMA = json.loads(
    Path(__file__).with_name("schema").joinpath("dashboard.schema.json").read_text("utf-8")
)
PAGES = [(language, own.name) for language in LANGUAGES for own in DASHBOARDS]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
UNITS = {*metrics.LEVELS.values(), *metrics.RATES.values()}
CHINESE = re.compile(r"[\u4e00-\u9fff]")
IMPORT = re.compile(r"^(from|import) grafanalib", re.MULTILINE)
SAME_IN_BOTH = {"GPU", "MFU", "Kafka"}
Json = dict[str, Any]


@pytest.fixture(params=PAGES, ids="-".join)
def page(request: pytest.FixtureRequest) -> Json:
    language, name = request.param
    text = (GENERATED / language / f"{name}.json").read_text("utf-8")
    return json.loads(text) | {"language": language}  # type: ignore[no-any-return]


@pytest.fixture
def panels(page: Json) -> list[Json]:
    return [panel for panel in page["panels"] if panel["type"] != "row"]


def test_generated_files_are_fresh() -> None:
    assert drift(GENERATED) == [], "run: make gen"
    assert main(check=True) == 0


def test_drift_is_told_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert drift(tmp_path) == []
    (tmp_path / "en/gpu.json").write_text("{}")
    (tmp_path / "zh/job.json").unlink()
    (tmp_path / "en/old.json").write_text("{}")
    assert drift(tmp_path) == ["en/gpu.json", "en/old.json", "zh/job.json"]
    write(tmp_path)
    assert drift(tmp_path) == []
    assert capsys.readouterr().err == ""


def test_every_dashboard_stands_in_the_table_and_on_disk() -> None:
    assert {f"{language}/{name}.json" for language, name in PAGES} == {str(p) for p, _ in files()}
    uids = [json.loads(text)["uid"] for _, text in files()]
    assert len(set(uids)) == len(uids)


def test_dashboard_is_of_the_current_schema(page: Json) -> None:
    page.pop("language")
    errors = jsonschema.Draft7Validator(SCHEMA).iter_errors(page)
    assert [f"{list(error.absolute_path)}: {error.message}" for error in errors] == []
    assert page["schemaVersion"] == 42


def test_schema_refuses_what_grafanalib_writes_by_itself(page: Json) -> None:
    page.pop("language")
    validator = jsonschema.Draft7Validator(SCHEMA)
    assert not validator.is_valid(page | {"style": "dark"})
    assert not validator.is_valid(page | {"rows": []})


def test_panels_are_numbered_and_do_not_overlap(page: Json) -> None:
    ids = [panel["id"] for panel in page["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for panel in page["panels"]:
        pos = panel["gridPos"]
        assert pos["x"] + pos["w"] <= 24
        columns = range(pos["x"], pos["x"] + pos["w"])
        cells = {(x, y) for x in columns for y in range(pos["y"], pos["y"] + pos["h"])}
        assert not taken & cells, panel["title"]
        taken |= cells


def test_numbers_stand_first(page: Json) -> None:
    first = [panel for panel in page["panels"] if panel["gridPos"]["y"] == 0]
    assert {panel["type"] for panel in first} == {"stat"}
    assert sum(panel["gridPos"]["w"] for panel in first) == 24


def test_every_reference_is_the_chosen_data_source(panels: list[Json]) -> None:
    for panel in panels:
        references = [target["datasource"] for target in panel.get("targets", [])]
        if references:
            references.append(panel["datasource"])
        assert all(reference == SOURCE for reference in references), panel["title"]


def test_every_target_has_a_letter_and_an_expression(panels: list[Json]) -> None:
    for panel in panels:
        targets = panel.get("targets", [])
        assert targets or panel["type"] == "alertlist", panel["title"]
        letters = [target["refId"] for target in targets]
        assert len(set(letters)) == len(letters)
        assert all(target["expr"] for target in targets)
        assert all(target["instant"] != target["range"] for target in targets)


def test_tables_join_more_than_one_column(panels: list[Json]) -> None:
    """With one query Grafana calls its column `Value`, and not `Value #A`."""
    assert all(len(panel["targets"]) > 1 for panel in panels if panel["type"] == "table")


def test_columns_of_a_table_have_its_keys_and_no_other_label(panels: list[Json]) -> None:
    """Rows are joined by all labels that are left: one more, or a name, and they fall apart."""
    for panel in panels:
        if panel["type"] == "table":
            exprs = [target["expr"] for target in panel["targets"]]
            keys = {match[1] for e in exprs if (match := re.match(r"\w+ by \(([\w, ]+)\)", e))}
            assert len(keys) == 1, panel["title"]
            assert all(re.match(r"\w+ by \(", expr) for expr in exprs), panel["title"]
            organized = panel["transformations"][-1]["options"]["renameByName"]
            names = {name for name in organized if not name.startswith("Value")}
            assert set(keys.pop().split(", ")) == names


def test_expressions_name_known_metrics_only(panels: list[Json]) -> None:
    for panel in panels:
        for target in panel.get("targets", []):
            named = metrics.named(target["expr"])
            assert named
            for name in named:
                assert name in CATALOGUE or metrics.metric(name).name == name
                assert name not in CATALOGUE or CATALOGUE[name].is_metric
            # Nothing is named past `named`: with selectors and texts gone, only words of PromQL.
            bare = re.sub(r"[a-z0-9_]+\{[^}]*\}", "", target["expr"])
            assert not re.search(r"\b(forewarn|gpu|node|nic|job|rank|agent)_\w+", bare)


def test_expressions_use_the_dashboards_variables_only(page: Json, panels: list[Json]) -> None:
    known = {variable["name"] for variable in page["templating"]["list"]}
    assert {"datasource", "cluster"} <= known
    text = json.dumps([panel.get("targets", []) for panel in panels])
    assert set(re.findall(r"\$([a-z]\w*)", text)) <= known
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(page["panels"])))
    assert known <= used


def test_counters_are_never_shown_raw_over_time(panels: list[Json]) -> None:
    """A counter's level says how long it has counted; the exceptions are small and told as such."""
    told = {"job_completed_steps_total", "gpu_row_remap_corrected_rows_total"}
    for panel in panels:
        for target in panel.get("targets", []):
            for name in re.findall(r"(?<!rate\()(?<!increase\()\b(\w+_total)\{", target["expr"]):
                assert name in told, panel["title"]


def _units(panel: Json) -> list[str]:
    own = [panel["fieldConfig"]["defaults"].get("unit", "")]
    if panel["type"] == "heatmap":
        own = [panel["options"]["yAxis"]["unit"]]
    for override in panel["fieldConfig"]["overrides"]:
        own += [p["value"] for p in override["properties"] if p["id"] == "unit"]
    return [unit for unit in own if unit]


def test_units_are_grafanas_and_shares_are_percent(panels: list[Json]) -> None:
    for panel in panels:
        if panel["type"] in {"alertlist", "state-timeline"}:
            continue
        units = _units(panel)
        assert units, panel["title"]
        assert set(units) <= UNITS, panel["title"]
        exprs = [target["expr"] for target in panel["targets"]]
        share = all(re.search(r"_ratio\{", e) and "count(" not in e for e in exprs)
        if share and panel["type"] != "table":
            assert units == ["percentunit"], panel["title"]


def test_every_signal_unit_has_one_of_grafanas() -> None:
    assert {s.unit for s in CATALOGUE.values() if s.is_metric} - {"code"} <= set(metrics.LEVELS)
    assert {own.unit for own in OWN.values()} <= set(metrics.LEVELS)


def test_thresholds_begin_with_a_base(panels: list[Json]) -> None:
    for panel in panels:
        steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
        values = [step["value"] for step in steps]
        assert values[:1] in ([], [None])
        assert values[1:] == sorted(values[1:])


def test_titles_and_descriptions_are_in_the_language(page: Json, panels: list[Json]) -> None:
    for panel in panels:
        assert panel["title"]
        assert panel["description"], panel["title"]
        chinese = page["language"] == "zh"
        assert bool(CHINESE.search(panel["description"])) == chinese, panel["title"]
        if panel["title"] not in SAME_IN_BOTH:
            assert bool(CHINESE.search(panel["title"])) == chinese, panel["title"]


def test_descriptions_hold_the_help_of_every_metric(page: Json, panels: list[Json]) -> None:
    for panel in panels:
        for target in panel.get("targets", []):
            for name in metrics.named(target["expr"]):
                text = metrics.metric(name).help.say(page["language"])
                assert f"`{name}`: {text}" in panel["description"]


def test_grafanalib_is_known_in_one_module_only() -> None:
    texts = {path.name: path.read_text("utf-8") for path in GENERATED.parent.glob("*.py")}
    users = [name for name, text in texts.items() if re.search(IMPORT, text)]
    assert users == ["panels.py"]


def test_links_lead_to_dashboards_of_the_same_language(page: Json, panels: list[Json]) -> None:
    uids = {f"forewarn-{own.name}" for own in DASHBOARDS}
    links = re.findall(r'"/d/([\w-]+)\?var-(\w+)=', json.dumps(panels))
    suffix = "-zh" if page["language"] == "zh" else ""
    for uid, variable in links:
        assert uid.removesuffix("-zh") in uids
        assert uid.endswith("-zh") == bool(suffix)
        name = uid.removesuffix("-zh").removeprefix("forewarn-")
        target = next(own for own in DASHBOARDS if own.name == name)
        assert variable in {own.name for own in target.variables}
    assert links or "fleet" not in page["uid"]


def test_placeholders_of_queries_are_known() -> None:
    assert [where for where, expr in queries.expressions() if "$" in expr] == []
