"""Reads the entries that ship with the wheel and the operator's own; what is broken is told."""

import logging
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from forewarn.errors import EntryError
from runbooks.model import Entry
from runbooks.resolve import Resolver
from runbooks.source import MAX_BYTES, Document, parse
from runbooks.table import Problem, Table

logger = logging.getLogger(__name__)
MAX_FOLDERS = 8  # deeper ones are taken for a loop of links
_WHERE = re.compile(r"(?P<where>.*?:\d+): (?P<key>.*?): (?P<message>.*)", re.DOTALL)


def load(directories: Iterable[Path] = ()) -> Table:
    """Read the built-in entries, then those of `directories` in order.

    An entry of a later place replaces one of the same id if its `rev` is higher. A file that
    cannot be used is left out and stands in `Table.problems`; nothing is raised for it.
    """
    shelf = _Shelf()
    built_in = resources.files("runbooks") / "entries"
    shelf.take(_files(built_in, "entries"), place="built-in")
    for directory in directories:
        shelf.take(_files(Path(directory), str(directory)), place=str(directory))
    for problem in shelf.problems:
        logger.warning("runbook entry left out: %s", problem)
    return Table(shelf.entries, tuple(shelf.problems), shelf.where)


def parse_entry(name: str, raw: bytes) -> tuple[Entry | None, tuple[Problem, ...]]:
    """Read one entry from the bytes of a file called `name`; all that is wrong with it is told."""
    try:
        document = parse(name, raw)
        entry = _convert(document)
    except EntryError as error:
        return None, (problem_of(error),)
    resolver = Resolver()
    resolved = resolver.entry(entry)
    problems = tuple(
        Problem(f"{name}:{document.line(f.path)}", f.path, f.message, entry=entry.id)
        for f in resolver.faults
    )
    return (None if problems else resolved), problems


class _Shelf:
    """Collects entries place by place."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.where: dict[str, str] = {}
        self.problems: list[Problem] = []
        self._places: dict[str, str] = {}

    def take(self, files: Iterator[tuple[str, bytes] | Problem], place: str) -> None:
        for file in files:
            if isinstance(file, Problem):
                self.problems.append(file)
                continue
            name, raw = file
            entry, problems = parse_entry(name, raw)
            self.problems += problems
            if entry is not None:
                self._put(entry, name, place)

    def _put(self, entry: Entry, name: str, place: str) -> None:
        held = self.entries.get(entry.id)
        if held is not None:
            message = self._refusal(entry, held, place)
            if message:
                self.problems.append(Problem(f"{name}:1", "id", message, entry=entry.id))
                return
        self.entries[entry.id] = entry
        self.where[entry.id] = f"{name}:1"
        self._places[entry.id] = place

    def _refusal(self, entry: Entry, held: Entry, place: str) -> str:
        where = self.where[entry.id]
        if self._places[entry.id] == place:
            return f"{entry.id} stands in {where} already; ids are never used twice"
        if entry.rev <= held.rev:
            return f"{entry.id} rev {entry.rev}: {where} holds rev {held.rev}; raise rev"
        return ""


def _convert(document: Document) -> Entry:
    try:
        return msgspec.convert(document.data, Entry)
    except msgspec.ValidationError as error:
        raise document.error(*_explain(str(error))) from error


def _explain(error: str) -> tuple[str, str]:
    """Split msgspec's message into the path and what is wrong there, with a fix."""
    message, _, place = error.partition(" - at ")
    path = re.sub(r"^(key in )?\$\.?", "", place.strip("`")).replace("`", "")
    path = re.sub(r"\[\.\.\.\].*", "", path)
    if unknown := re.search(r"unknown field `(.+)`", message):
        own = f"{path}.{unknown[1]}".lstrip(".")
        return own, "unknown key; remove it or see docs/runbooks.md"
    words = message[0].lower() + message[1:].replace("`", "")
    return path, words + _hint(message)


def _hint(message: str) -> str:
    if message.startswith("Expected `str`, got"):
        return "; put it in quotes"
    if re.match(r"Expected `(float|int)( \| null)?`, got `str`", message):
        return "; write a plain number, such as 1000000 or 1.0e+6"
    return ""


def problem_of(error: EntryError) -> Problem:
    """Turn an error `file:line: key: message` into a problem."""
    match = _WHERE.fullmatch(str(error))
    if match is None:
        return Problem("runbook:1", "file", str(error))
    return Problem(match["where"], match["key"], match["message"])


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes] | Problem]:
    """Yield name and bytes of each YAML file at or below `folder`, in the order of names."""
    if not folder.is_dir():
        yield Problem(f"{name}:1", "folder", "is no folder that can be read")
        return
    yield from _walk(folder, name, MAX_FOLDERS)


def _walk(folder: Traversable, name: str, left: int) -> Iterator[tuple[str, bytes] | Problem]:
    try:
        children = sorted(folder.iterdir(), key=lambda child: child.name)
    except OSError as error:
        yield Problem(f"{name}:1", "folder", f"cannot be read: {error.strerror}")
        return
    for child in children:
        own = f"{name}/{child.name}"
        if child.is_dir():
            if left:
                yield from _walk(child, own, left - 1)
        elif child.name.endswith((".yaml", ".yml")) and child.is_file():
            yield _read(child, own)


def _read(file: Traversable, name: str) -> tuple[str, bytes] | Problem:
    try:
        with file.open("rb") as handle:
            return name, handle.read(MAX_BYTES + 1)
    except OSError as error:
        return Problem(f"{name}:1", "file", f"cannot be read: {error.strerror}")
