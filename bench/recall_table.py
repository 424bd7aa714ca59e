"""The tables of bench/recall: recall by bin of d', delay by form, causes, misses by mode."""

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from bench.tables import between
from forewarn.cli.score import Row

BINS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.1, 301.0)
Z = 1.96


class Other(Protocol):
    """What a table needs of an incident that is no fault's first."""

    @property
    def of(self) -> str:
        """Return the fault in whose reach it lies, empty for none."""


class Found(Protocol):
    """What a table needs of a run."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return what became of each fault."""

    @property
    def weak(self) -> tuple[bool, ...]:
        """Return of each row whether it is weaker than its mode draws by itself."""

    @property
    def others(self) -> Sequence[Other]:
        """Return the incidents that are no fault's first."""


def lower(found: int, of: int) -> float:
    """Return the lower end of Wilson's 95 % interval of a share."""
    if not of:
        return 0.0
    share, z2 = found / of, Z * Z
    centre = share + z2 / (2 * of)
    spread = Z * ((share * (1 - share) + z2 / (4 * of)) / of) ** 0.5
    return float((centre - spread) / (1 + z2 / of))


def by_bin(rows: Sequence[tuple[Row, bool]]) -> list[str]:
    """Return a line a bin: all faults, and those that their mode would draw by itself."""
    out = ["| d' | faults | found | 95 % from | of those that cost something | 95 % from |",
           "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    bounds = [(low, high) for low, high in itertools.pairwise(BINS)]
    for low, high in [*bounds, (4.0, 301.0)]:
        own = [(row, weak) for row, weak in rows if low <= row.d_prime < high]
        name = f"{low:g} to {high:.0f}" if high < 300 else "no noise" if low > 50 else "4 and more"
        out.append(f"| {name} | {_cells([r for r, _ in own])} | {_strong(own)} |")
    return out


def _cells(rows: Sequence[Row]) -> str:
    found = sum(bool(row.incident) for row in rows)
    share = f"{found / len(rows):.3f} | {lower(found, len(rows)):.3f}" if rows else "- | -"
    return f"{len(rows)} | {share}"


def _strong(rows: Sequence[tuple[Row, bool]]) -> str:
    own = [row for row, weak in rows if not weak]
    found = sum(bool(row.incident) for row in own)
    if not own:
        return "- | -"
    return f"{found} of {len(own)}: {found / len(own):.3f} | {lower(found, len(own)):.3f}"


def delays(rows: Iterable[Row]) -> list[str]:
    """Return median and 95th percentile of the delay by form, seconds."""
    out = ["| form | found | median delay | 95th percentile |", "|---|---:|---:|---:|"]
    own = list(rows)
    for form in ("sudden", "gradual", "intermittent"):
        late = sorted(
            row.delay_seconds for row in own if row.form == form and row.delay_seconds is not None
        )
        if late:
            worst = late[min(int(0.95 * len(late)), len(late) - 1)]
            out.append(
                f"| {form} | {len(late)} | {statistics.median(late):.0f} s | {worst:.0f} s |"
            )
    return out


def misses(rows: Sequence[tuple[Row, bool]]) -> list[str]:
    """Return which modes of d' 4 and more were missed, and how often."""
    own = [(row, weak) for row, weak in rows if row.d_prime >= 4.0 and not row.incident]
    counts = Counter((row.mode, weak) for row, weak in own)
    made = Counter(row.mode for row, _ in rows)
    return [
        f"  {mode}{' (weaker than it draws)' if weak else ''}: {count} of {made[mode]}"
        for (mode, weak), count in counts.most_common()
    ]


def summary(runs: Sequence[Found], rows: Sequence[tuple[Row, bool]]) -> str:
    """Return what a table does not say: how many, which causes, what was false."""
    hours = 2.0 * len(runs)
    others = [other for own in runs for other in own.others]
    false = sum(not other.of for other in others)
    found = [row for row, _ in rows if row.incident]
    right, modes = sum(row.right for row in found), len({row.mode for row, _ in rows})
    return (
        f"{len(rows)} faults of {modes} modes in {len(runs)} runs; the right cause stood first in "
        f"{right} of {len(found)}. Without a fault behind them: {false} incidents in {hours:.0f} h "
        f"of 512 GPUs ({24 * false / hours:.1f} a day). Further incidents in the reach of a fault: "
        f"{len(others) - false}."
    )


def show(runs: Sequence[Found], write: bool) -> None:
    """Print the tables; with `write` put them into the page of benchmarks."""
    rows = [pair for own in runs for pair in zip(own.rows, own.weak, strict=True)]
    strong = [row for row, weak in rows if row.d_prime >= 4.0 and not weak]
    table = [*by_bin(rows), "", *delays(strong), "", summary(runs, rows)]
    print("\n".join(table))
    print("missed at d' of 4 and more:", *misses(rows), sep="\n")
    wrong = Counter((row.mode, row.cause) for row, _ in rows if row.incident and not row.right)
    told = (f"  {mode}: {cause} {count}" for (mode, cause), count in wrong.most_common())
    print("another cause first:", *told, sep="\n")
    if write:
        between("recall", "\n".join(table))
