"""What a dashboard is made of, before any Grafana: frozen values with texts in both languages."""

from typing import Literal

import msgspec

from forewarn.language import Text

Kind = Literal["stat", "series", "states", "table", "heat", "alerts"]
Step = tuple[str, float | None]  # a colour and the value from which it holds; None is the base

GOOD, FAIR, BAD, NEUTRAL = "green", "orange", "red", "blue"


class Query(msgspec.Struct, frozen=True):
    """One PromQL expression; `legend` may hold `{{label}}`.

    With `buckets` the series are those of a histogram, one for each `le`.
    """

    expr: str
    legend: Text = Text()
    buckets: bool = False


class State(msgspec.Struct, frozen=True):
    """What a value is called, and its colour."""

    value: int
    name: Text
    color: str


class Column(msgspec.Struct, frozen=True):
    """A column of a table: its values come from one instant query, its name and unit from here."""

    title: Text
    expr: str
    unit: str = ""  # empty is that of the query's first metric
    steps: tuple[Step, ...] = ()


class Link(msgspec.Struct, frozen=True):
    """From a cell of a table to another dashboard, which takes the cell as its variable."""

    column: str
    dashboard: str
    variable: str


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One panel: `width` of 24 columns, `height` of 30 pixels.

    `unit` is Grafana's; empty is that of the first metric of the first query. `keys` are the
    labels by which a table's columns are joined, with their headings. `most` is the upper end of
    the axis where there is one.
    """

    kind: Kind
    title: Text
    queries: tuple[Query, ...] = ()
    unit: str = ""
    about: Text = Text()
    width: int = 8
    height: int = 8
    steps: tuple[Step, ...] = ()
    states: tuple[State, ...] = ()
    stacked: bool = False
    most: float | None = None
    keys: tuple[tuple[str, Text], ...] = ()
    columns: tuple[Column, ...] = ()
    links: tuple[Link, ...] = ()


class Section(msgspec.Struct, frozen=True):
    """Panels under a heading, placed from left to right as they fit; no title is no heading."""

    panels: tuple[Panel, ...]
    title: Text = Text()


class Variable(msgspec.Struct, frozen=True):
    """A choice at the top of a dashboard: the values that a label of a metric has."""

    name: str
    title: Text
    metric: str


class Dashboard(msgspec.Struct, frozen=True):
    """One dashboard; `name` makes its file and its uid."""

    name: str
    title: Text
    about: Text
    variables: tuple[Variable, ...]
    sections: tuple[Section, ...]
