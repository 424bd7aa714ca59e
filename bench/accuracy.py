"""Accuracy on labelled data of strangers, through `forewarn replay` itself, beside other methods.

The data are not ours and most of them are too large to be here: FOREWARN_DATA=DIR names a folder
with `smd_asd/*.npz` (train, test, label), `hpas/*.parquet` with `index.json`, and `nab/`. A row
whose data are missing says *not run*. Thresholds and models come from the training parts only, and
there is one configuration for all.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bench.accuracy_methods import METHODS
from bench.tables import between
from bench.vus import runs, vus_pr
from forewarn.cli.replaying import Outputs, of_tables
from forewarn.config import Settings

OURS = "**Forewarn: `forewarn replay`**"
BEGIN = 1_700_006_400  # a midnight; the data have no dates
SAME_SECONDS = 600.0
DAY = 86_400.0
HELD = 0.7  # of the training part: other methods get their threshold from the rest
NAB_HISTORY = 0.15


class Series(NamedTuple):
    """One machine, server or run: [time, signal], with labels of 0 and 1."""

    group: str
    name: str
    period: int
    history: NDArray[np.float64]
    readings: NDArray[np.float64]
    label: NDArray[np.int64]


class Figures(NamedTuple):
    """What one method reached on one series."""

    vus: float
    recall: float
    false_per_day: float
    auc: float


def machines(folder: Path) -> Iterator[Series]:
    """Yield the machines of SMD (minutes) and the servers of ASD (five minutes)."""
    for path in sorted((folder / "smd_asd").glob("*.npz")):
        data = np.load(path, allow_pickle=False)
        server = path.stem.startswith("omi")
        yield Series("ASD" if server else "SMD", path.stem, 300 if server else 60,
                     data["train"].astype(np.float64), data["test"].astype(np.float64),
                     data["label"].astype(np.int64))  # fmt: skip


def nodes(folder: Path) -> Iterator[Series]:
    """Yield the runs of HPAS with faults of one kind; the clean run is the history of each."""
    index = folder / "hpas" / "index.json"
    if not index.exists():
        return
    told = json.loads(index.read_text())
    held = {own["run"]: pd.read_parquet(folder / "hpas" / f"{own['run']}.parquet") for own in told}
    clean = next(own["run"] for own in told if not own["events"])
    common = [name for name in held[clean] if all(name in own for own in held.values())]
    for own in told:
        kinds = {event["kind"] for event in own["events"]}
        if len(kinds) != 1:
            continue
        table = held[own["run"]]
        since = table.index.to_numpy() - own["t0"]
        label = np.zeros(len(table), np.int64)
        for event in own["events"]:
            label[(since >= event["start_s"]) & (since <= event["end_s"])] = 1
        yield Series(f"HPAS {kinds.pop()}", own["run"], 1, _whole(held[clean][common]),
                     _whole(table[common]), label)  # fmt: skip


def _whole(table: pd.DataFrame) -> NDArray[np.float64]:
    return table.ffill().fillna(0).to_numpy(np.float64)


def clouds(folder: Path) -> Iterator[Series]:
    """Yield the series of NAB with anomalies; what comes first is their history."""
    windows = folder / "nab" / "combined_windows.json"
    if not windows.exists():
        return
    for name, spans in json.loads(windows.read_text()).items():
        path = folder / "nab" / "data" / name
        if not spans or not path.exists():
            continue
        table = pd.read_csv(path, parse_dates=["timestamp"])
        label = np.zeros(len(table), np.int64)
        for first, last in spans:
            inside = (table["timestamp"] >= first) & (table["timestamp"] <= last)
            label[inside.to_numpy()] = 1
        values = table[["value"]].to_numpy(np.float64)
        cut = int(NAB_HISTORY * len(values))
        yield Series("NAB", name, 300, values[:cut], values[cut:], label[cut:])


def ours(own: Series, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the product's score of each reading, and where its findings are open."""
    paths = [folder / name for name in ("train.parquet", "test.parquet", "scores.parquet")]
    _table(own, own.history, BEGIN).to_parquet(paths[0])
    begin = BEGIN + len(own.history) * own.period
    _table(own, own.readings, begin).to_parquet(paths[1])
    found = folder / "findings.jsonl"
    outputs = Outputs("en", None, paths[2], found, None)
    of_tables(Settings(), [paths[1]], [paths[0]], None, "gauge", outputs)
    scores = pd.read_parquet(paths[2])
    at = ((scores["time"].to_numpy() - begin) / own.period).astype(np.int64)
    score = np.zeros(len(own.readings))
    score[at] = scores["surprise"].to_numpy()
    return score, _open(found, begin, own)


def _table(own: Series, readings: NDArray[np.float64], begin: int) -> pd.DataFrame:
    count, width = readings.shape
    return pd.DataFrame(
        {"time": np.repeat(begin + own.period * np.arange(count), width), "entity": own.name,
         "signal": np.tile([f"metric {at}" for at in range(width)], count),
         "value": readings.ravel()}
    )  # fmt: skip


def _open(path: Path, begin: int, own: Series) -> NDArray[np.bool_]:
    latest = {f["id"]: f for f in map(json.loads, path.read_text().splitlines())}
    flags = np.zeros(len(own.readings), np.bool_)
    for finding in latest.values():
        first = finding["opened_at_unix_nano"] / 1e9 - begin
        last = (finding["closed_at_unix_nano"] or 9e18) / 1e9 - begin
        flags[max(0, int(first / own.period)) : int(last / own.period) + 1] = True
    return flags


def figures(own: Series, score: NDArray[np.float64], flags: NDArray[np.bool_]) -> Figures:
    """Return how good a score and its flags are."""
    if own.group.startswith("HPAS"):
        return Figures(np.nan, np.nan, np.nan, float(roc_auc_score(own.label, score)))
    events, apart = runs(own.label), int(SAME_SECONDS / own.period)
    near = np.convolve(own.label, np.ones(2 * apart + 1), mode="same") > 0
    recall = np.mean([flags[first : last + 1].any() for first, last in events])
    false = sum(not near[first : last + 1].any() for first, last in spans(flags, apart))
    days = len(own.label) * own.period / DAY
    return Figures(vus_pr(own.label, score), float(recall), false / days, np.nan)


def spans(flags: NDArray[np.bool_], apart: int) -> list[tuple[int, int]]:
    """Return first and last of each group of flags that are at most `apart` from each other."""
    at = np.flatnonzero(flags)
    if not len(at):
        return []
    groups = np.split(at, np.flatnonzero(np.diff(at) > apart + 1) + 1)
    return [(int(own[0]), int(own[-1])) for own in groups]


def theirs(name: str, own: Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return another method's score, and its flags at one event a day on the rest of history."""
    score = METHODS[name](own.history)(own.readings)
    cut = int(HELD * len(own.history))
    held = METHODS[name](own.history[:cut])(own.history[cut:])
    days = len(held) * own.period / DAY
    apart, limit = int(SAME_SECONDS / own.period), float(held.max()) * 1.0001
    for level in np.unique(np.quantile(held, np.linspace(0.9, 1, 600)))[::-1]:
        if len(spans(held >= level, apart)) > days:
            break
        limit = float(level)
    return score, score >= limit


def measure(folder: Path, groups: list[str]) -> dict[tuple[str, str], list[Figures]]:
    """Run all methods over all series of the groups."""
    found: dict[tuple[str, str], list[Figures]] = {}
    for own in (*machines(folder), *nodes(folder), *clouds(folder)):
        if own.group not in groups:
            continue
        with tempfile.TemporaryDirectory() as place:
            found.setdefault((own.group, OURS), []).append(figures(own, *ours(own, Path(place))))
        for name in METHODS:
            found.setdefault((own.group, name), []).append(figures(own, *theirs(name, own)))
        latest = found[own.group, OURS][-1]
        print(f"{own.group} {own.name}: {latest}", file=sys.stderr, flush=True)
    return found


GROUPS = ("SMD", "ASD", "NAB", "HPAS ML", "HPAS CC", "HPAS CO")


def table(found: dict[tuple[str, str], list[Figures]], groups: list[str]) -> str:
    """Return the means over all series of a group as a table of Markdown."""
    lines = [
        "| method | " + " | ".join(f"{g} {_of(g)}" for g in groups) + " |",
        "| --- " * (len(groups) + 1) + "|",
    ]
    for name in (*METHODS, OURS):
        cells = [_cell(group, found.get((group, name))) for group in groups]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of(group: str) -> str:
    return "AUC" if group.startswith("HPAS") else "VUS-PR; recall at false a day"


def _cell(group: str, own: list[Figures] | None) -> str:
    if not own:
        return "*not run*"
    mean = Figures(*np.mean(np.array(own), axis=0))
    if group.startswith("HPAS"):
        return f"{mean.auc:.3f}"
    return f"{mean.vus:.3f}; {mean.recall:.2f} at {mean.false_per_day:.2f}"


def main() -> None:
    """Run, print, and write the page if asked to."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--groups", default=",".join(GROUPS), help="by commas")
    options.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    own = options.parse_args()
    folder = Path(os.environ.get("FOREWARN_DATA", "bench/data"))
    groups = own.groups.split(",")
    found = measure(folder, groups)
    counts = {group: len(found.get((group, OURS), [])) for group in groups}
    said = "Series: " + ", ".join(f"{group} {count}" for group, count in counts.items()) + "."
    print(f"{said}\n\n{table(found, groups)}")
    if own.page:
        between("accuracy", f"{said}\n\n{table(found, groups)}")


if __name__ == "__main__":
    main()
