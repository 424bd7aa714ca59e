"""Brings what grafanalib 0.7.1 writes (schema 12, keys of dead panels) to Grafana's schema.

Grafana would migrate it itself on loading; but then what is committed is not what is shown, and no
schema could check it.
"""

from typing import Any

Json = dict[str, Any]

SCHEMA_VERSION = 42
DASHBOARD_KEYS = frozenset(
    "annotations description editable graphTooltip id links panels refresh schemaVersion tags "
    "templating time timezone title uid".split()
)
PANEL_KEYS = frozenset(
    "datasource description fieldConfig gridPos id links options targets title transformations "
    "transparent type".split()
)
ROW_KEYS = frozenset("collapsed gridPos id panels title type".split())
TARGET_KEYS = frozenset("datasource expr format instant legendFormat refId".split())
VARIABLE_KEYS = frozenset(
    "allValue datasource hide includeAll label multi name query refresh sort type".split()
)
ALL = {"selected": True, "text": ["All"], "value": ["$__all"]}


def current(dashboard: Json) -> Json:
    """Return a dashboard in the current schema; `dashboard` is left as it is."""
    kept = _keep(dashboard, DASHBOARD_KEYS)
    kept["schemaVersion"] = SCHEMA_VERSION
    kept["panels"] = [_panel(panel) for panel in dashboard["panels"]]
    kept["templating"] = {"list": [_variable(v) for v in dashboard["templating"]["list"]]}
    kept["annotations"] = {"list": []}
    kept["timepicker"] = {}
    return kept


def _keep(json: Json, keys: frozenset[str]) -> Json:
    return {key: _bare(value) for key, value in json.items() if key in keys and value is not None}


def _bare(value: Any) -> Any:
    """Drop nulls, at every depth: the schema knows none but a threshold's base."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    return value


def _panel(panel: Json) -> Json:
    if panel["type"] == "row":
        return _keep(panel, ROW_KEYS)
    kept = _keep(panel, PANEL_KEYS)
    fields = kept["fieldConfig"]
    fields["defaults"].pop("thresholds", None)
    if steps := panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps"):
        fields["defaults"]["thresholds"] = {"mode": "absolute", "steps": _steps(steps)}
    # An override's base step is null too; nothing in an override is to be stripped.
    fields["overrides"] = panel["fieldConfig"].get("overrides", [])
    _custom(fields["defaults"].get("custom", {}))
    kept["targets"] = [_target(target) for target in panel.get("targets", [])]
    return {key: value for key, value in kept.items() if value not in ([], "")}


def _steps(steps: list[Json]) -> list[Json]:
    """Return colours and values only; the base has no value, where grafanalib says "null"."""
    return [
        {"color": step["color"], "value": step["value"] if index else None}
        for index, step in enumerate(steps)
    ]


def _custom(custom: Json) -> None:
    """Mend a panel's own settings: a linear axis has no base, cells have options, not a mode."""
    if custom.get("scaleDistribution", {}).get("type") == "linear":
        custom["scaleDistribution"] = {"type": "linear"}
    custom.pop("displayMode", None)


def _target(target: Json) -> Json:
    kept = _keep(target, TARGET_KEYS)
    return kept | {"editorMode": "code", "range": not kept["instant"]}


def _variable(variable: Json) -> Json:
    kept = _keep(variable, VARIABLE_KEYS)
    if kept["type"] == "query":
        kept["query"] = {"query": kept["query"], "refId": kept["name"]}
        kept["current"] = ALL
    return kept
