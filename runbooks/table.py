"""The table: all entries that could be read, and what was wrong with the others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from runbooks.model import Entry


class Problem(msgspec.Struct, frozen=True):
    """Something wrong with an entry: `where` is `file:line`, `key` the place in the entry."""

    where: str
    key: str
    message: str
    severity: Literal["error", "warning"] = "error"
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.key}: {self.message}"


class Table:
    """Entries by id, in the order of their ids; compared by identity, never changed.

    `problems` are the files (or entries) that were left out. `where` says where an entry stands.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        problems: tuple[Problem, ...] = (),
        where: Mapping[str, str] | None = None,
    ) -> None:
        self.entries: Mapping[str, Entry] = MappingProxyType(dict(sorted(entries.items())))
        self.problems = problems
        self.where: Mapping[str, str] = MappingProxyType(dict(where or {}))

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, entry: str) -> Entry | None:
        """Return the entry with that id."""
        return self.entries.get(entry)

    def living(self) -> list[Entry]:
        """Return all entries that may explain something: active ones and drafts."""
        return [entry for entry in self.entries.values() if entry.status != "deprecated"]
