"""Makes Grafana's JSON of a panel or a dashboard by grafanalib, which is imported here only."""

import json
from collections.abc import Callable, Iterable
from string import ascii_uppercase
from typing import Any

from grafanalib import _gen
from grafanalib import core as g

from dashboards import metrics
from dashboards.columns import organize, overrides
from dashboards.current import current
from dashboards.grid import Place, place
from dashboards.spec import Dashboard, Panel, Query, Step, Variable
from forewarn.language import LANGUAGES, Language, Text

Json = dict[str, Any]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
TAG = "forewarn"
DATASOURCE = Text("Data source", "数据源")
NATURAL = 7  # node n2 before n10
RANGE_FROM, REFRESH = "now-1h", "10s"


def render(dashboard: Dashboard, language: Language) -> str:
    """Return the JSON text of a dashboard in one language, in the current schema."""
    panels = [_place(what, where, language) for what, where in place(dashboard)]
    made = g.Dashboard(
        title=dashboard.title.say(language),
        description=dashboard.about.say(language),
        uid=uid(dashboard.name, language),
        tags=[TAG, language],
        templating=g.Templating([_source(language), *_variables(dashboard, language)]),
        links=[g.DashboardLink(tags=[TAG, language], includeVars=True)],
        time=g.Time(RANGE_FROM, "now"),
        timezone="browser",
        refresh=REFRESH,
        graphTooltip=g.GRAPH_TOOLTIP_MODE_SHARED_CROSSHAIR,
        editable=False,
        panels=panels,
    ).auto_panel_ids()
    raw = json.loads(json.dumps(made.to_json_data(), cls=_gen.DashboardEncoder))
    return json.dumps(current(raw), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def uid(name: str, language: Language) -> str:
    """Return the uid of a dashboard; the first language has the plain one."""
    return f"{TAG}-{name}" if language == LANGUAGES[0] else f"{TAG}-{name}-{language}"


def description(panel: Panel, language: Language) -> str:
    """Return what a panel says about itself: its own words, then what each of its metrics is."""
    exprs = [query.expr for query in panel.queries] + [column.expr for column in panel.columns]
    names = dict.fromkeys(name for expr in exprs for name in metrics.named(expr))
    lines = [f"`{name}`: {metrics.metric(name).help.say(language)}" for name in names]
    return "\n\n".join(filter(None, [panel.about.say(language), *lines]))


def _place(what: Panel | Text, where: Place, language: Language) -> Any:
    pos = g.GridPos(where.height, where.width, where.x, where.y)
    if isinstance(what, Text):
        return g.RowPanel(title=what.say(language), gridPos=pos)
    shared: Json = {
        "title": what.title.say(language),
        "description": description(what, language),
        "gridPos": pos,
        "dataSource": SOURCE,
        "targets": _targets(what, language),
        "thresholds": _steps(what.steps),
        "maxDataPoints": None,
    }
    return MAKERS[what.kind](what, language, shared)


def _targets(panel: Panel, language: Language) -> list[g.Target]:
    instant = panel.kind in {"stat", "table"}
    queries = panel.queries + tuple(Query(column.expr) for column in panel.columns)
    return [
        g.Target(
            expr=query.expr,
            legendFormat=query.legend.say(language) or "__auto",
            refId=ascii_uppercase[number],
            instant=instant,
            format=_format(panel, query),
            datasource=SOURCE,
        )
        for number, query in enumerate(queries)
    ]


def _format(panel: Panel, query: Query) -> str:
    if panel.kind == "table":
        return "table"
    return "heatmap" if query.buckets else "time_series"


def _steps(steps: Iterable[Step]) -> list[g.Threshold]:
    return [g.Threshold(color, index, value or 0.0) for index, (color, value) in enumerate(steps)]


def _unit(panel: Panel) -> str:
    return panel.unit or metrics.unit(panel.queries[0].expr)


def _mappings(panel: Panel, language: Language) -> list[Json]:
    options = {
        str(state.value): {"text": state.name.say(language), "color": state.color, "index": index}
        for index, state in enumerate(panel.states)
    }
    return [{"type": "value", "options": options}] if options else []


def _stat(panel: Panel, language: Language, shared: Json) -> g.Stat:
    return g.Stat(
        **shared,
        format=_unit(panel),
        color={"mode": "thresholds"},
        colorMode="background_solid" if len(panel.steps) > 1 else "value",
        graphMode="none",
        reduceCalc="lastNotNull",
        mappings=_mappings(panel, language),
        noValue="–",
        extraJson={"options": {"wideLayout": True, "showPercentChange": False}},
    )


def _series(panel: Panel, language: Language, shared: Json) -> g.TimeSeries:
    custom = {
        "stacking": {"group": "A", "mode": "normal" if panel.stacked else "none"},
        "thresholdsStyle": {"mode": "dashed" if panel.steps else "off"},
        "axisSoftMin": 0 if _unit(panel) not in {"celsius", "none"} else None,
    }
    defaults = {"custom": custom, "max": panel.most}
    return g.TimeSeries(
        **shared,
        unit=_unit(panel),
        mappings=_mappings(panel, language),
        fillOpacity=60 if panel.stacked else 8,
        showPoints="never",
        spanNulls=False,
        legendDisplayMode="table" if panel.width >= 12 else "list",
        legendPlacement="right" if panel.width >= 16 else "bottom",
        legendCalcs=["lastNotNull", "max"] if panel.width >= 12 else [],
        tooltipMode="multi",
        tooltipSort="desc",
        extraJson={"fieldConfig": {"defaults": defaults}, "options": {"legend": SHOWN}},
    )


def _states(panel: Panel, language: Language, shared: Json) -> g.StateTimeline:
    return g.StateTimeline(
        **shared,
        mappings=_mappings(panel, language),
        showValue="never",
        legendDisplayMode="list",
        extraJson={"options": {"legend": SHOWN}},
    )


def _heat(panel: Panel, _language: Language, shared: Json) -> g.Heatmap:
    scheme = {"mode": "scheme", "scheme": "Turbo", "steps": 64, "scale": "exponential",
              "exponent": 0.5, "fill": "dark-orange", "reverse": False}  # fmt: skip
    options = {
        "calculate": not panel.queries[0].buckets,
        "cellGap": 1,
        "color": scheme,
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"mode": "single", "yHistogram": False, "showColorScale": False},
        "yAxis": {"axisPlacement": "left", "reverse": False, "unit": _unit(panel)},
    }
    hidden = {"hideFrom": {"legend": False, "tooltip": False, "viz": False}}
    return g.Heatmap(
        **shared,
        options=options,
        extraJson={"fieldConfig": {"defaults": {"custom": hidden}, "overrides": []}},
    )


def _table(panel: Panel, language: Language, shared: Json) -> g.Table:
    custom = {"align": "auto", "filterable": True, "cellOptions": {"type": "auto"}}
    return g.Table(
        **shared,
        overrides=overrides(panel, language, lambda link: f"/d/{uid(link.dashboard, language)}"),
        transformations=[{"id": "merge", "options": {}}, organize(panel, language)],
        extraJson={
            "fieldConfig": {"defaults": {"custom": custom}},
            "options": {"cellHeight": "sm"},
        },
    )


class AlertList(g.Panel):  # type: ignore[misc]
    """The list of today's unified alerting; grafanalib's own knows the one before it."""

    def to_json_data(self) -> Json:
        """Return the panel as JSON."""
        made: Json = self.panel_json({"type": g.ALERTLIST_TYPE})
        return made


def _alerts(_panel: Panel, _language: Language, shared: Json) -> AlertList:
    states = {"firing": True, "pending": True, "recovering": True, "noData": False,
              "normal": False, "error": True}  # fmt: skip
    options = {
        "alertInstanceLabelFilter": "", "alertName": "", "dashboardAlerts": False, "groupBy": [],
        "groupMode": "default", "maxItems": 20, "sortOrder": 3, "stateFilter": states,
        "viewMode": "list",
    }  # fmt: skip
    own = {key: shared[key] for key in ("title", "description", "gridPos")}
    extra = {"options": options, "fieldConfig": {"defaults": {}, "overrides": []}}
    return AlertList(**own, extraJson=extra)


SHOWN = {"showLegend": True}
MAKERS: dict[str, Callable[[Panel, Language, Json], Any]] = {
    "stat": _stat, "series": _series, "states": _states, "heat": _heat, "table": _table,
    "alerts": _alerts,
}  # fmt: skip


def _source(language: Language) -> g.Template:
    label = DATASOURCE.say(language)
    return g.Template("datasource", "prometheus", type="datasource", label=label)


def _variables(dashboard: Dashboard, language: Language) -> list[g.Template]:
    """Return the choices; each is offered what is left by those before it."""
    return [
        g.Template(
            name=variable.name,
            query=label_values(variable, dashboard.variables[:number]),
            label=variable.title.say(language),
            dataSource=SOURCE,
            includeAll=True,
            multi=True,
            allValue=".*",
            refresh=g.REFRESH_ON_TIME_RANGE_CHANGE,
            sort=NATURAL,
        )
        for number, variable in enumerate(dashboard.variables)
    ]


def label_values(variable: Variable, before: Iterable[Variable]) -> str:
    """Return Grafana's query of a variable's values, under those before it that it depends on."""
    own = metrics.of(variable.metric)
    chosen = ", ".join(f'{v.name}=~"${v.name}"' for v in before if f'"${v.name}"' in own)
    return f"label_values({variable.metric}{{{chosen}}}, {variable.name})"
