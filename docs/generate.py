"""Writes the generated parts of the documents; with `--check`, says what has drifted instead.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import ast
import inspect
import itertools
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from dashboards.table import DASHBOARDS
from exporters.collector import Collector, Host
from exporters.devices import Compound
from exporters.registry import COLLECTORS
from forewarn import config
from forewarn.bus import TOPICS
from forewarn.catalogue import CATALOGUE, MOVEMENTS, Signal
from simulator.faults import FAULTS, expected_of
from simulator.hardware import HARDWARE

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
TYPES = {str: "string", int: "whole number", float: "number", bool: "true, false"}


def table(head: str, rows: Iterator[tuple[str, ...]]) -> str:
    """Return a Markdown table; `head` names its columns, parted by `|`."""
    columns = head.split("|")
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def settings() -> str:
    """Return one table for every table of the file."""
    return "\n".join(_section(name, section) for name, section in _sections("", config.Settings))


def _sections(
    name: str, section: type[msgspec.Struct]
) -> Iterator[tuple[str, type[msgspec.Struct]]]:
    """Yield the tables of the file in its order; secrets are explained once, at the end."""
    yield name, section
    for key, kind in get_type_hints(section).items():
        inner = get_args(kind)[0] if get_origin(kind) is tuple else kind
        is_table = isinstance(inner, type) and issubclass(inner, msgspec.Struct)
        if is_table and inner is not config.Secret:
            yield from _sections(f"{name}.{key}".lstrip("."), inner)
    if not name:
        yield "a secret", config.Secret


def _section(name: str, section: type[msgspec.Struct]) -> str:
    heading = {
        "": "Top of the file",
        "webhook": "`[[webhook]]`",
        "agent.job_log": "`[[agent.job_log]]`",
        "a secret": "A secret",
    }
    title = heading.get(name, f"`[{name}]`")
    about = inspect.getdoc(section) or ""
    return f"### {title}\n\n{about}\n\n{table('Key|Type|Default|Meaning', _keys(section))}"


def _keys(section: type[msgspec.Struct]) -> Iterator[tuple[str, ...]]:
    hints, texts = get_type_hints(section), meanings(section)
    for field in msgspec.structs.fields(section):
        yield f"`{field.name}`", _type(hints[field.name]), _default(field), texts[field.name]


def meanings(section: type[msgspec.Struct]) -> dict[str, str]:
    """Return the text that stands below each key in the source.

    Raises:
        KeyError: where the caller asks for a key that has none.

    """
    body = ast.parse(inspect.getsource(section)).body[0].body  # type: ignore[attr-defined]
    found: dict[str, str] = {}
    for one, text in itertools.pairwise(body):
        match one, text:
            case (
                ast.AnnAssign(target=ast.Name(id=key)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[key] = " ".join(words.split())
    return found


def _type(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(f'"{word}"' for word in inner)
    if origin is tuple:
        return f"array of {_type(inner[0])}"
    if origin in {typing.Union, types.UnionType}:
        return _type(inner[0])
    if origin is dict:
        return "table of strings"
    return TYPES.get(kind, "table")


def _default(field: msgspec.structs.FieldInfo) -> str:
    default = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    if default is msgspec.NODEFAULT:
        return "required"
    if isinstance(default, msgspec.Struct) or default in ((), {}):
        return ""
    value = msgspec.json.encode(default).decode()
    return f"`{value}`"


def signals() -> str:
    """Return one table of metrics for every layer."""
    layers = dict.fromkeys(signal.layer for signal in CATALOGUE.values())
    return "\n".join(f"### {layer}\n\n{_layer(layer)}" for layer in layers)


def _layer(layer: str) -> str:
    rows = (_signal(s) for s in CATALOGUE.values() if s.layer == layer)
    return table("Signal|Kind|At|Unit|Every|Bad|Limit|What it is", rows)


def _signal(signal: Signal) -> tuple[str, ...]:
    return (
        f"`{signal.name}`", signal.kind, signal.entity, signal.unit, f"{signal.period_seconds} s",
        signal.bad, _limit(signal), f"{signal.help.en}<br>{signal.help.zh}",
    )  # fmt: skip


def _limit(signal: Signal) -> str:
    floor = signal.floor
    if floor is None:
        return ""
    if floor.device:
        return f"`{floor.device}`"
    return f"{floor.number:g}{'/s' if floor.per_second else ''}"


def movements() -> str:
    """Return the table of movements."""
    rows = (
        (
            f"`{row.name}`",
            f"{row.meaning_en}; {row.meaning_zh}",
            ", ".join(sorted(row.kinds)),
            ", ".join(sorted(row.families)),
        )
        for row in MOVEMENTS.values()
    )
    return table("Movement|The signal …|On|Said by", rows)


def topics() -> str:
    """Return the table of topics."""
    rows = (
        (f"`{t.name}`", t.key, str(t.partitions), _keeps(t.retention_seconds, t.compacted), t.help)
        for t in TOPICS.values()
    )
    return table("Topic|Key|Partitions|Keeps|Holds", rows)


def _keeps(seconds: int | None, compacted: bool) -> str:
    words = [f"{seconds // 3600} h"] if seconds else []
    return ", ".join([*words, *(["latest of each key"] if compacted else [])])


def collectors() -> str:
    """Return the table of what the agent reads."""
    nowhere = Host("node/n7", Path("/nonexistent"), Path("/nonexistent"))
    made = ((name, make(nowhere)) for name, make in COLLECTORS.items())
    return table("Collector|Reads|Deadline|Signals", (_collector(*pair) for pair in made))


def _collector(name: str, own: Collector) -> tuple[str, ...]:
    about = inspect.getdoc(inspect.getmodule(own)) or ""
    parts = own.part_signals if isinstance(own, Compound) else ()
    names = ", ".join(f"`{signal}`" for signal in (*own.signals, *parts))
    sentence = " ".join(about.split("\n\n")[0].split())
    return f"`{name}`", sentence, f"{own.deadline_seconds:g} s", names


def dashboards() -> str:
    """Return the table of dashboards, in the order in which they are read."""
    rows = (
        (own.title.en.partition(" · ")[2], ", ".join(v.title.en for v in own.variables),
         own.about.en)
        for own in DASHBOARDS
    )  # fmt: skip
    return table("Dashboard|Variables|What it shows", rows)


def faults() -> str:
    """Return the table of ways to fail, in the order of FAULTS."""
    rows = (
        (f"`{mode.name}`", mode.layer, f"`{mode.entity_kind}`", mode.severity_help,
         "to ".join(f"{own:g} " for own in mode.severities).strip(), _first_line(mode.act),
         " or ".join(expected_of(mode)))
        for mode in FAULTS.values()
    )  # fmt: skip
    return table("Mode|Layer|Entity|Severity|From, to|What happens|Expected", rows)


def _first_line(act: Callable[..., None]) -> str:
    about = inspect.getdoc(inspect.getmodule(act)) or ""
    return " ".join(about.split("\n\n")[0].split())


def hardware() -> str:
    """Return the table of hardware models, as air cools them."""
    rows = (
        (f"`{name}`", own.model, f"{own.power_limit_watts:g} W", f"{own.limit_celsius:g} °C",
         f"{own.clock_max_hertz / 1e9:g} GHz", f"{own.scale_up_links:g}",
         f"{own.port_bytes_per_second * 8 / 1e9:g} Gb/s")
        for name, own in HARDWARE.items()
    )  # fmt: skip
    return table("Name|Model|Power limit|Slows down near|Clock|Scale-up links|Port", rows)


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings, "signals": signals, "movements": movements, "topics": topics,
    "collectors": collectors, "dashboards": dashboards, "faults": faults, "hardware": hardware,
}  # fmt: skip


def fresh(text: str) -> str:
    """Return a document with its generated parts made anew."""
    return PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}", text)


def main(check: bool) -> int:
    """Write all documents, or with `check` name those that differ; return the exit status."""
    drifted = 0
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (wanted := fresh(text)) == text:
            continue
        drifted += 1
        if check:
            sys.stderr.write(f"{path.name}: a generated part is out of date; run: make docs\n")
        else:
            path.write_text(wanted, encoding="utf-8")
    return int(check and drifted > 0)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
