"""The columns of a table: how the queries are joined, named, coloured and linked."""

from collections.abc import Callable
from string import ascii_uppercase
from typing import Any

from dashboards import metrics
from dashboards.spec import Column, Link, Panel
from forewarn.language import Language

Json = dict[str, Any]
# Every link keeps the cluster, the data source and the time that were chosen.
KEPT = "${datasource:queryparam}&${cluster:queryparam}&${__url_time_range}"


def organize(panel: Panel, language: Language) -> Json:
    """Return the transformation that names and orders the columns of the joined queries."""
    names = {key: title.say(language) for key, title in panel.keys}
    for letter, column in zip(ascii_uppercase, panel.columns, strict=False):
        names[f"Value #{letter}"] = column.title.say(language)
    options = {
        "excludeByName": {"Time": True},
        "indexByName": {name: index for index, name in enumerate(names)},
        "renameByName": names,
    }
    return {"id": "organize", "options": options}


def overrides(panel: Panel, language: Language, target: Callable[[Link], str]) -> list[Json]:
    """Return the fields' own settings: units and colours of values, links of keys."""
    values = [_override(c.title.say(language), _properties(c)) for c in panel.columns]
    titles = {key: title.say(language) for key, title in panel.keys}
    links = [_override(titles[link.column], [_link(link, target(link))]) for link in panel.links]
    return values + links


def _properties(column: Column) -> list[Json]:
    found: list[Json] = [{"id": "unit", "value": column.unit or metrics.unit(column.expr)}]
    if column.steps:
        steps = [{"color": color, "value": value} for color, value in column.steps]
        found.append({"id": "thresholds", "value": {"mode": "absolute", "steps": steps}})
        found.append({"id": "color", "value": {"mode": "thresholds"}})
        found.append({"id": "custom.cellOptions", "value": {"type": "color-text"}})
    return found


def _link(link: Link, target: str) -> Json:
    url = f"{target}?var-{link.variable}=${{__value.text}}&{KEPT}"
    return {"id": "links", "value": [{"title": "${__value.text}", "url": url}]}


def _override(name: str, properties: list[Json]) -> Json:
    return {"matcher": {"id": "byName", "options": name}, "properties": properties}
