"""Short ways to write the panels that dashboards are made of, and the variables they share."""

from dashboards.metrics import of
from dashboards.spec import BAD, FAIR, GOOD, NEUTRAL, Panel, Query, State, Step, Variable
from forewarn.language import Text

NOTHING = Text()
PLAIN: tuple[Step, ...] = ((NEUTRAL, None),)
NONE_IS_GOOD: tuple[Step, ...] = ((GOOD, None), (BAD, 1.0))
ONE_IS_GOOD: tuple[Step, ...] = ((BAD, None), (GOOD, 1.0))

UP = (State(0, Text("down", "断"), BAD), State(1, Text("up", "通"), GOOD))
WORKS = (State(0, Text("failed", "失败"), BAD), State(1, Text("works", "正常"), GOOD))
HELD = (State(0, Text("free", "正常"), GOOD), State(1, Text("held down", "受限"), FAIR))

CLUSTER = Variable("cluster", Text("Cluster", "集群"), "node_cpu_utilization_ratio")
NODE = Variable("node", Text("Node", "节点"), "node_cpu_utilization_ratio")
JOBS = Variable("job", Text("Job", "作业"), "job_step_seconds")


def stat(
    title: Text, expr: str, unit: str = "", steps: tuple[Step, ...] = PLAIN, width: int = 3
) -> Panel:
    """Return one number."""
    return Panel(
        kind="stat", title=title, queries=(Query(expr),), unit=unit, steps=steps, width=width,
        height=4,
    )  # fmt: skip


def series(
    title: Text, expr: str, legend: str = "", unit: str = "", width: int = 8,
    steps: tuple[Step, ...] = (), about: Text = NOTHING, stacked: bool = False,
    most: float | None = None,
) -> Panel:  # fmt: skip
    """Return lines over time, of one query."""
    query = Query(expr, Text(legend))
    return Panel(
        kind="series", title=title, queries=(query,), unit=unit, width=width, steps=steps,
        about=about, stacked=stacked, most=most,
    )  # fmt: skip


def lines(
    title: Text, queries: tuple[Query, ...], unit: str = "", width: int = 8,
    steps: tuple[Step, ...] = (), about: Text = NOTHING, stacked: bool = False,
    most: float | None = None,
) -> Panel:  # fmt: skip
    """Return lines over time, of several queries."""
    return Panel(
        kind="series", title=title, queries=queries, unit=unit, width=width, steps=steps,
        about=about, stacked=stacked, most=most,
    )  # fmt: skip


def states(
    title: Text, expr: str, legend: str, names: tuple[State, ...], width: int = 12,
    height: int = 8, about: Text = NOTHING,
) -> Panel:  # fmt: skip
    """Return a line of states for each series; `names` says what its values mean."""
    steps = tuple((own.color, float(own.value) if own.value else None) for own in names)
    query = Query(expr, Text(legend))
    return Panel(
        kind="states", title=title, queries=(query,), states=names, steps=steps, unit="short",
        width=width, height=height, about=about,
    )  # fmt: skip


def spread(title: Text, name: str, by: str, width: int = 8) -> Panel:
    """Return median, 99th percentile and the most of a gauge over all that carry the labels `by`.

    With one series for each, a fleet of any size is three lines.
    """
    queries = (
        Query(f"quantile(0.5, max by ({by}) ({of(name)}))", Text("median", "中位数")),
        Query(f"quantile(0.99, max by ({by}) ({of(name)}))", Text("99th percentile", "99 百分位")),
        Query(f"max({of(name)})", Text("most", "最大")),
    )
    return lines(title, queries, width=width)
