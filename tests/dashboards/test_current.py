"""What grafanalib writes is brought to the current schema, panel by panel."""

import json
from typing import Any

import pytest

from dashboards.panels import render
from dashboards.spec import Dashboard, Panel, Query, Section
from forewarn.language import Text

EXPR = 'gpu_temperature_celsius{cluster=~"$cluster"}'


def made(**own: Any) -> dict[str, Any]:
    """Return one panel as it is written."""
    own = {"queries": (Query(EXPR),), "title": Text("t"), **own}
    page = Dashboard("d", Text("d"), Text("about"), (), (Section((Panel(**own),)),))
    panel: dict[str, Any] = json.loads(render(page, "en"))["panels"][0]
    return panel


def nulls(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        return [n for key, inner in value.items() for n in nulls(inner, f"{path}.{key}")]
    if isinstance(value, list):
        return [n for inner in value for n in nulls(inner, f"{path}[]")]
    return [path] if value is None else []


@pytest.mark.parametrize("kind", ["stat", "series", "states", "heat", "alerts"])
def test_panel_has_no_null_but_the_base_of_its_thresholds(kind: str) -> None:
    steps = (("green", None), ("red", 80.0))
    found = nulls(made(kind=kind, steps=steps))
    assert set(found) <= {".fieldConfig.defaults.thresholds.steps[].value"}


def test_base_of_thresholds_is_null_and_not_a_word() -> None:
    steps = made(kind="stat", steps=(("green", None), ("red", 80.0)))["fieldConfig"]["defaults"]
    assert steps["thresholds"] == {
        "mode": "absolute",
        "steps": [{"color": "green", "value": None}, {"color": "red", "value": 80.0}],
    }


def test_target_has_no_key_of_another_data_source() -> None:
    (target,) = made(kind="series")["targets"]
    assert set(target) == {
        "datasource", "editorMode", "expr", "format", "instant", "legendFormat", "range", "refId",
    }  # fmt: skip


def test_heatmap_has_the_options_of_today() -> None:
    options = made(kind="heat")["options"]
    assert options["calculate"] is True
    assert options["color"]["mode"] == "scheme"
    assert options["yAxis"]["unit"] == "celsius"
    buckets = made(kind="heat", queries=(Query(EXPR, Text("{{le}}"), buckets=True),))
    assert buckets["options"]["calculate"] is False
    assert buckets["targets"][0]["format"] == "heatmap"


def test_alert_list_is_that_of_unified_alerting() -> None:
    panel = made(kind="alerts", queries=())
    assert panel["options"]["stateFilter"]["firing"] is True
    assert "show" not in panel
    assert "targets" not in panel


def test_linear_axis_has_no_base() -> None:
    custom = made(kind="series")["fieldConfig"]["defaults"]["custom"]
    assert custom["scaleDistribution"] == {"type": "linear"}
