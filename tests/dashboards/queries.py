"""The queries that Grafana would send for the committed dashboards, with all variables at "All"."""

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.dashboards.prometheus import Prometheus

GENERATED = Path(__file__).parents[2] / "dashboards" / "generated"
INTERVAL, RANGE = "15s", "1m"  # of scrapes that are 1 s apart
_VALUES = re.compile(r"label_values\((?P<selector>.*), (?P<label>\w+)\)")


def load(language: str = "en") -> dict[str, dict[str, Any]]:
    """Return the dashboards of one language by name."""
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in files(language)}
    assert found
    return found


def files(language: str) -> list[Path]:
    return sorted((GENERATED / language).glob("*.json"))


def expressions() -> Iterator[tuple[str, str]]:
    """Yield every query of every panel: where it stands, and the expression as it would be sent."""
    for name, dashboard in load().items():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                yield f"{name}: {panel['title']} {target['refId']}", filled(target["expr"])


def filled(expr: str) -> str:
    """Put in what Grafana would put in for its variables."""
    text = expr.replace("$__rate_interval", INTERVAL).replace("$__range", RANGE)
    return re.sub(r"\$(cluster|node|job|gpu)\b", ".*", text)


def variables() -> Iterator[tuple[str, str, str]]:
    """Yield every query for a variable's values: where it stands, selector, label."""
    for name, dashboard in load().items():
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                match = _VALUES.fullmatch(variable["query"]["query"])
                assert match, variable
                yield f"{name}: ${variable['name']}", filled(match["selector"]), match["label"]


def without_data(server: Prometheus) -> list[str]:
    """Return where a query or a variable has no data now: no series, or nothing but NaN."""
    empty = [f"{where}: {expr}" for where, expr in expressions() if not _has(server, expr)]
    for where, selector, label in variables():
        if not server.values(label, selector):
            empty.append(f"{where}: {selector}")
    return empty


def of_kafka(expr: str) -> bool:
    """Say whether only a process on Kafka has what is asked for."""
    return "forewarn_bus_" in expr or "forewarn_kafka_" in expr


def await_data(
    server: Prometheus,
    between: Callable[[], None],
    limit_seconds: float,
    but: Callable[[str], bool] = lambda _: False,
) -> None:
    """Look until every query has data, save those excepted; AssertionError with what has none."""
    deadline = time.monotonic() + limit_seconds
    while empty := [place for place in without_data(server) if not but(place)]:
        listed = "\n".join(empty)
        assert time.monotonic() < deadline, f"without data:\n{listed}"
        between()
        time.sleep(0.1)


def _has(server: Prometheus, expr: str) -> bool:
    return any(not math.isnan(float(own["value"][1])) for own in server.query(expr))
