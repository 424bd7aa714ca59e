"""Runs recordings and tables through the whole line, and writes what came of them."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import msgspec

import runbooks
from detector.families.joint import Model
from detector.training import scores as scoring
from detector.training import streams, tidy
from detector.training.history import History
from detector.training.joint import fit
from forewarn.bus import Message
from forewarn.catalogue import CATALOGUE, UNKNOWN
from forewarn.cli import render
from forewarn.cli.console import console, emit, utc
from forewarn.cli.line import Line, Step
from forewarn.config import Settings
from forewarn.language import Language
from forewarn.recording import head, read
from forewarn.records import NANOSECONDS, Finding

DAY = 86_400
EARLY = 366 * DAY  # times before 1971 count from something else than 1970: an index, mostly
SINCE = 20_000 * DAY  # where such tables are put, so that all times are after 1970


class Outputs:
    """Where findings, incidents and scores go: files; a terminal or JSON lines (None: neither)."""

    def __init__(
        self, language: Language, as_json: bool | None, scores: Path | None, findings: Path | None,
        incidents: Path | None,
    ) -> None:  # fmt: skip
        self.language, self.as_json, self.scores = language, as_json, scores
        self._paths = (findings, incidents)
        self._findings: BinaryIO | None = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the file of findings open."""
        with ExitStack() as held:
            if self._paths[0] is not None:
                self._findings = held.enter_context(self._paths[0].open("wb"))
            yield

    def step(self, step: Step) -> None:
        """Tell of findings, and with JSON of incidents, as they come."""
        for finding in step.findings:
            if self._findings is not None:
                self._findings.write(msgspec.json.encode(finding) + b"\n")
            if self.as_json:
                emit({"kind": "finding", "finding": finding})
            elif self.as_json is not None and finding.seq == 1:
                console().print(render.finding_line(finding, self.language))
        if self.as_json:
            for incident in step.incidents:
                emit({"kind": "incident", "incident": incident})

    def end(self, line: Line) -> None:
        """Tell of the incidents, and write them."""
        found = line.incidents()
        if self._paths[1] is not None:
            self._paths[1].write_bytes(b"".join(msgspec.json.encode(own) + b"\n" for own in found))
        if self.as_json is not False:
            return
        standing = [own for own in found if own.state != "merged"]
        for incident in standing:
            console().print(render.incident_panel(incident, self.language))
        console().print(f"{len(standing)} incidents")


def of_recording(settings: Settings, path: Path, outputs: Outputs) -> None:
    """Replay a recording."""
    with _line(settings, head(path).cluster) as line, outputs.opened():
        book = scoring.Scorebook(line.engine, {}, {}) if outputs.scores else None
        for step in _steps(line, read(path)):
            outputs.step(step)
        if book is not None and outputs.scores is not None:
            tidy.write(outputs.scores, book.rows)
        outputs.end(line)


def of_tables(
    settings: Settings, files: Sequence[Path], train: Sequence[Path], inventory: Path | None,
    unknown: str, outputs: Outputs,
) -> None:  # fmt: skip
    """Learn from the tables `train`, then replay `files`; raises TidyError."""
    own = streams.Streams(settings.cluster)
    known = [own.rows(path, unknown) for path in (*train, *files)]
    history, present = known[: len(train)], known[len(train) :]
    shifts = _shifts(history, present)
    with _line(settings, settings.cluster) as line, outputs.opened():
        models = _learn(line, own, zip(history, shifts[: len(train)], strict=True), inventory)
        book = scoring.Scorebook(line.engine, models, own.names)
        line.spoken_for = partial(_spoken_for, models)
        for rows, shift in zip(present, shifts[len(train) :], strict=True):
            for step in _feed(line, own, rows, shift, inventory, "replaying"):
                outputs.step(step)
                outputs.step(line.tell(book.told()))
        outputs.step(line.finish())
        outputs.step(line.tell(book.end()))
        if outputs.scores is not None:
            tidy.write(outputs.scores, book.rows, shifts[-1])
        outputs.end(line)


def _spoken_for(models: Mapping[str, Model], finding: Finding) -> bool:
    """Say whether a finding is of a plain gauge of an entity that is judged as a whole.

    Such a gauge has neither floor nor direction: what is worth telling of it, its neighbours say.
    """
    signal = CATALOGUE.get(finding.signal)
    plain = signal is not None and signal.layer == UNKNOWN
    return plain and finding.family != "joint" and finding.entity in models


@contextmanager
def _line(settings: Settings, cluster: str) -> Iterator[Line]:
    settings = msgspec.structs.replace(settings, cluster=cluster, webhook=())
    with tempfile.TemporaryDirectory(prefix="forewarn-replay-") as directory:
        line = Line(settings, Path(directory), runbooks.load())
        yield line
        line.close()


def _steps(line: Line, messages: Iterable[Message]) -> Iterator[Step]:
    """Step once for each second of the stream."""
    for _, second in groupby(messages, lambda own: own.append_time_unix_nano // NANOSECONDS):
        line.replay(second)
        yield line.step()
    yield line.finish()


def _learn(
    line: Line, own: streams.Streams, tables: Iterable[tuple[tidy.Rows, int]],
    inventory: Path | None,
) -> dict[str, Model]:  # fmt: skip
    """Let the detector learn, and fit models of entities as a whole."""
    history = History(line.engine)
    for rows, shift in tables:
        for _ in _feed(line, own, rows, shift, inventory, "learning"):
            pass
    line.engine.observer = None
    return history.models(fit)


def _feed(
    line: Line, own: streams.Streams, rows: tidy.Rows, shift: int, inventory: Path | None,
    doing: str,
) -> Iterator[Step]:  # fmt: skip
    items = own.items(rows, inventory)
    with console(stderr=True).status(doing) as status:
        for batch in own.batches(rows, shift):
            now = (batch.second + 1) * NANOSECONDS
            line.publish(now, batch.frames, batch.job_frames, (), items)
            items = []
            yield line.step()
            status.update(f"{doing}: {utc(now)}")


def _shifts(history: Sequence[tidy.Rows], present: Sequence[tidy.Rows]) -> list[int]:
    """Return how far each table is moved in time: by whole days, so that hours stay what they are.

    History comes before what is replayed, whatever its times say, and nothing before 1970.
    """
    first = min((float(own.seconds[0]) for own in present if len(own.seconds)), default=0.0)
    base = SINCE if first < EARLY else 0
    last = max((float(own.seconds[-1]) for own in history if len(own.seconds)), default=-1.0)
    over = int(last - first) // DAY + 1 if history and last >= first else 0
    return [base - over * DAY] * len(history) + [base] * len(present)
