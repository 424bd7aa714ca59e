"""Tables as streams: the rows of one second become frames, as agents would have sent them."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from detector.series import admit
from detector.training import tidy
from forewarn import entity as entities
from forewarn import wire
from forewarn.errors import EntityError
from forewarn.records import NANOSECONDS, Frame, InventoryItem, Layout, Placement

SOURCE = "table"
PLACED = ("job", "rank", "node", "stage", "tensor")  # columns that say where a rank runs


class Batch(msgspec.Struct, frozen=True):
    """What was read in one second, by node and by job."""

    second: int
    frames: tuple[Frame, ...]
    job_frames: tuple[Frame, ...]


class Streams:
    """Turns tables into batches; counts frames of each node over all of them.

    `names` says what a table calls each entity: one without a known kind is taken as a node.
    """

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._seq: dict[str, int] = {}
        self._layouts: dict[bytes, bytes] = {}
        self.names: dict[str, str] = {}

    def rows(self, path: Path, unknown: str) -> tidy.Rows:
        """Read a table; `unknown` signals become plain gauges if it is `gauge`.

        Raises TidyError: if it is no table, or has signals that the catalogue does not know.
        """
        rows = tidy.read(path, admit if unknown == "gauge" else None)
        if rows.unknown:
            some = ", ".join(sorted(rows.unknown)[:5])
            raise tidy.TidyError(
                f"{path}: {len(rows.unknown)} signals are not in the catalogue ({some}); name them "
                "as `forewarn runbook lookup` does, or take them as plain gauges: --unknown gauge"
            )
        return rows

    def items(self, rows: tidy.Rows, table: Path | None) -> list[InventoryItem]:
        """Return what is known of a table's entities: their signals, and rows of an inventory."""
        collected: dict[str, list[str]] = {}
        for signal, entity in rows.names:
            collected.setdefault(self._entity(entity), []).append(signal)
        known = tidy.attributes(table) if table else {}
        named = {self._entity(entity): own for entity, own in known.items()}
        at = int(rows.seconds[0]) * NANOSECONDS if len(rows.seconds) else 0
        return [
            InventoryItem(
                self._cluster, entity, at,
                {k: v for k, v in named.get(entity, {}).items() if k not in PLACED[1:]},
                {SOURCE: tuple(sorted(collected.get(entity, ())))},
                placement=_placement(named.get(entity, {}), at),
            )
            for entity in dict.fromkeys((*collected, *named))
        ]  # fmt: skip

    def batches(self, rows: tidy.Rows, shift_seconds: int = 0) -> Iterator[Batch]:
        """Yield the seconds of a table, `shift_seconds` later than they were."""
        own = [(signal, self._entity(entity)) for signal, entity in rows.names]
        roots, root_of = np.unique(
            [entities.root(entity) for _, entity in own], return_inverse=True
        )
        for instant in tidy.instants(rows):
            here = root_of[instant.which]
            frames = [
                self._frame(str(roots[number]), instant, here == number, own, shift_seconds)
                for number in np.unique(here)
            ]
            jobs = tuple(f for f in frames if f.source != SOURCE)
            yield Batch(instant.second + shift_seconds,
                        tuple(f for f in frames if f.source == SOURCE), jobs)  # fmt: skip

    def _entity(self, name: str) -> str:
        try:
            entity = entities.check(name)
        except EntityError:  # a stranger's word: any will do as the name of a node
            entity = entities.path("node", name)
        self.names[entity] = name
        return entity

    def _frame(
        self, root: str, instant: tidy.Instant, mine: NDArray[np.bool_],
        names: list[tuple[str, str]], shift: int,
    ) -> Frame:  # fmt: skip
        which = instant.which[mine]
        job = entities.kind(root) == "job"
        self._seq[root] = self._seq.get(root, 0) + 1
        name = entities.last_name(root)
        return Frame(
            self._cluster, SOURCE if job else name, f"reporter:{name}" if job else SOURCE,
            self._seq[root], (instant.second + shift) * NANOSECONDS, "",
            self._layout(which, names), instant.values[mine].astype("<f8").tobytes(),
        )  # fmt: skip

    def _layout(self, which: NDArray[np.int64], names: list[tuple[str, str]]) -> bytes:
        key = which.tobytes() + str(id(names)).encode()
        if key not in self._layouts:
            pairs = [names[int(at)] for at in which]
            signals = tuple(dict.fromkeys(signal for signal, _ in pairs))
            places = tuple(dict.fromkeys(entity for _, entity in pairs))
            self._layouts[key] = wire.encode_layout(Layout(
                signals, places, tuple(signals.index(signal) for signal, _ in pairs),
                tuple(places.index(entity) for _, entity in pairs),
            ))  # fmt: skip
        return self._layouts[key]


def _placement(own: dict[str, str], now: int) -> Placement | None:
    """Return where a rank runs, if the inventory says its job and number. Raises TidyError."""
    if not own.get("job") or not own.get("rank"):
        return None
    try:
        return Placement(
            own["job"], int(own["rank"]), own.get("node", SOURCE),
            stage=int(own["stage"]) if own.get("stage") else None,
            tensor=int(own["tensor"]) if own.get("tensor") else None, since_unix_nano=now,
        )  # fmt: skip
    except ValueError as error:
        raise tidy.TidyError(
            f"inventory: rank, stage and tensor are whole numbers: {error}"
        ) from error
