"""Draws the race of docs/benchmarks.md for the README: what is found at the same false rate."""

import re
from pathlib import Path
from typing import NamedTuple

from matplotlib import rcParams
from matplotlib.figure import Figure

from bench.tables import PAGE

PICTURE = PAGE.parent / "recall.svg"
PLACE = "recall-race"
OURS, OTHERS = "#1f77b4", "#b8c0c8"


class Row(NamedTuple):
    """One method: faults found, of how many, its 95 % lower bound and false incidents."""

    method: str
    found: int
    of: int
    least: float
    false: int


def rows(page: Path = PAGE) -> list[Row]:
    """Read the table between its markers. Raises ValueError where it is not as expected."""
    text = page.read_text(encoding="utf-8")
    inside = text.split(f"<!-- bench: {PLACE} -->")[1].split(f"<!-- end {PLACE} -->")[0]
    found = []
    for line in inside.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = re.fullmatch(r"(\d+) of (\d+)", cells[2]) if len(cells) == 6 else None
        if match:
            found.append(
                Row(cells[0], int(match[1]), int(match[2]), float(cells[3]), int(cells[5]))
            )
    if not found:
        raise ValueError(f"{page}: {PLACE} has no rows")
    return found


def draw(own: list[Row], path: Path = PICTURE) -> None:
    """Draw a bar a method with its lower bound, and how many false incidents it raised."""
    rcParams["svg.hashsalt"] = "forewarn"  # else every drawing differs
    figure = Figure(figsize=(7.5, 3.0))
    axes = figure.subplots()
    own = own[::-1]
    share = [row.found / row.of for row in own]
    colours = [OURS if row.method == "Forewarn" else OTHERS for row in own]
    below = [[value - row.least for value, row in zip(share, own, strict=True)], [0] * len(own)]
    axes.barh([row.method for row in own], share, color=colours, xerr=below, ecolor="#444")
    for at, row in enumerate(own):
        axes.text(0.01, at, f"{row.found} of {row.of}, {row.false} false", va="center", fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_xlabel("faults that cost something, found (line: 95 % lower bound)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(rows())
