"""Turns one YAML text into plain data and remembers the line of every key, for errors that help."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import yaml

from forewarn.errors import EntryError

MAX_BYTES = 256 * 1024  # one entry in full depth takes about 20 kB
MAX_DEPTH = 20  # the deepest legal place is an `any` inside an `any`
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_STEP = re.compile(r"(\.[^.\[]+|\[[^\]]*\])$")


class Document(msgspec.Struct, frozen=True):
    """What stands in a file; `lines` maps paths such as `need[0].signal` to line numbers."""

    name: str
    data: object
    lines: Mapping[str, int]

    def line(self, path: str) -> int:
        """Return the line of `path`, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = _STEP.sub("", path) if _STEP.search(path) else ""
        return self.lines.get(path, 1)

    def error(self, path: str, message: str) -> EntryError:
        """Return an error that says `file:line: key: message`."""
        return EntryError(f"{self.name}:{self.line(path)}: {path or 'entry'}: {message}")


def parse(name: str, raw: bytes) -> Document:
    """Read the one mapping that a file holds.

    Aliases are refused: they are the only way to make a small file unfold into a huge one.

    Raises:
        EntryError: with `name` and line, on anything that is no such mapping.

    """
    if len(raw) > MAX_BYTES:
        raise EntryError(f"{name}:1: file: is larger than {MAX_BYTES // 1024} KiB; split it")
    root = _compose(name, _decode(name, raw))
    if not isinstance(root, yaml.MappingNode):
        raise EntryError(f"{name}:1: file: must hold the keys of one entry (id, rev, status, …)")
    reader = _Reader(name)
    return Document(name, reader.read(root, "", 0), reader.lines)


def _decode(name: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise EntryError(f"{name}:{line}: file: is no UTF-8 text; save it as UTF-8") from error


def _compose(name: str, text: str) -> yaml.Node | None:
    _refuse_depth(name, text)
    try:
        return yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise EntryError(f"{name}:{line}: file: no YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise EntryError(f"{name}:{line}: file: no YAML: {error.reason}") from error


def _refuse_depth(name: str, text: str) -> None:
    """Refuse what the parser in C would follow until its stack ends."""
    brackets = max(text.count("["), text.count("{"))
    dashes = max((len(m[0].split()) for m in re.finditer(r"(?:[-?][ \t]+)+", text)), default=0)
    if brackets > 5000 or dashes > MAX_DEPTH:
        raise EntryError(f"{name}:1: file: is nested too deeply or has too many brackets")


class _Reader:
    """Walks the nodes of one file once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[int] = set()
        self._scalars = yaml.constructor.SafeConstructor()
        self.lines: dict[str, int] = {}

    def read(self, node: yaml.Node, path: str, depth: int) -> object:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if id(node) in self._seen:
            raise self._error(node, path, "an alias (*name) is not allowed; write the value again")
        if depth > MAX_DEPTH:
            raise self._error(node, path, "is nested too deeply")
        self._seen.add(id(node))
        if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN:
            raise self._error(node, path, f"has a tag ({node.tag}); write plain YAML")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(n, f"{path}[{i}]", depth + 1) for i, n in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = self._scalar(key_node, path)
            if not isinstance(key, str):
                raise self._error(key_node, path, f"key {key!r} must be text; put it in quotes")
            own = f"{path}.{key}" if path else key
            if key in found:
                raise self._error(key_node, own, "stands twice; remove one")
            self.lines[own] = key_node.start_mark.line + 1
            found[key] = self.read(value_node, own, depth + 1)
        return found

    def _scalar(self, node: yaml.Node, path: str) -> object:
        try:
            value: object = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise self._error(node, path, f"cannot be read ({type(error).__name__})") from error
        return value

    def _error(self, node: yaml.Node, path: str, message: str) -> EntryError:
        line = node.start_mark.line + 1
        return EntryError(f"{self._name}:{line}: {path or 'entry'}: {message}")
