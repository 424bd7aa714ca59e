"""The metrics that a dashboard may name: their selectors, units and texts in both languages.

They are the catalogue's signals, and what Forewarn tells of itself (OWN).
"""

import re

import msgspec

from dashboards.own import OWN
from forewarn.catalogue import CATALOGUE
from forewarn.language import Text

# Kind of entity -> the variables by which its series are chosen; others by their cluster alone.
CLUSTER = 'cluster=~"$cluster"'
NODE = f'{CLUSTER}, node=~"$node"'
JOB = f'{CLUSTER}, job=~"$job"'
SELECTORS = {
    "gpu": NODE, "nic_port": NODE, "node": NODE, "agent": NODE, "disk": NODE, "mount": NODE,
    "job": JOB, "rank": JOB,
}  # fmt: skip

# Unit of a metric -> Grafana's unit of its level, and of its rate. Shares are percent here only.
LEVELS = {
    "celsius": "celsius", "watts": "watt", "joules": "joule", "seconds": "s", "bytes": "bytes",
    "ratio": "percentunit", "hertz": "hertz", "volts": "volt", "amperes": "amp", "rpm": "rotrpm",
    "pascals": "pressurepa", "decibels": "dB", "bytes_per_second": "Bps",
    "liters_per_second": "suffix: L/s", "tokens_per_second": "suffix: tok/s",
    "samples_per_second": "suffix: sample/s", "flops_per_second": "flops",
    "joules_per_token": "suffix: J/tok", "joules_per_step": "suffix: J/step",
    "kelvin_per_watt": "suffix: K/W",
    "count": "short", "bool": "short", "state": "short", "none": "short",
}  # fmt: skip
RATES = {"bytes": "Bps", "joules": "watt", "count": "cps", "seconds": "percentunit"}

_NAME = re.compile(r"\b([a-z][a-z0-9_]*)\{")  # `of` writes every name with its selector
_RATE = re.compile(r"\b(?:rate|irate)\(")
_PARTS = re.compile(r"_(?:bucket|sum|count)$")


class Metric(msgspec.Struct, frozen=True):
    """One metric: the entity it lives on (empty for our own), its unit, what it is."""

    name: str
    entity: str
    unit: str
    help: Text


def metric(name: str) -> Metric:
    """Return a metric by name; parts of a histogram are the histogram's.

    Raises:
        KeyError: if neither the catalogue nor OWN has it.

    """
    own = OWN.get(name) or OWN.get(_PARTS.sub("", name))
    if own is not None:
        return Metric(name, "", own.unit, own.help)
    signal = CATALOGUE[name]
    return Metric(name, signal.entity, signal.unit, signal.help)


def of(name: str, where: str = "") -> str:
    """Return the selector of a metric under the dashboard's variables, and `where`.

    Raises:
        KeyError: if there is no such metric.

    """
    found = metric(name)
    own = SELECTORS.get(found.entity, CLUSTER)
    return f"{name}{{{', '.join(filter(None, (own, where)))}}}"


def rate(name: str, where: str = "") -> str:
    """Return the rate of a counter over the interval that fits the scrapes."""
    return f"rate({of(name, where)}[$__rate_interval])"


def grown(name: str, where: str = "") -> str:
    """Return by how much a counter rose over the dashboard's time range."""
    return f"increase({of(name, where)}[$__range])"


def named(expr: str) -> tuple[str, ...]:
    """Return the names of the metrics of an expression, each once, in order."""
    return tuple(dict.fromkeys(_NAME.findall(expr)))


def unit(expr: str) -> str:
    """Return Grafana's unit of an expression: that of its first metric, or of its rate."""
    known = metric(named(expr)[0])
    return RATES[known.unit] if _RATE.search(expr) else LEVELS[known.unit]
