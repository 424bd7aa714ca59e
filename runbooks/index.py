"""The words of all entries, weighted by where they stand, so that a query finds them at once."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from forewarn.catalogue import CATALOGUE
from forewarn.language import Text
from runbooks.evidence import parts
from runbooks.model import Entry
from runbooks.render import label
from runbooks.table import Table
from runbooks.words import nearness, tokens

# A title says what an entry is about; a long text mentions much that it is not about.
FIELDS: Mapping[str, tuple[float, Text]] = {
    "title": (3.0, Text("title", "标题")),
    "words": (3.0, Text("keyword", "关键词")),
    "codes": (2.0, Text("code", "代码")),
    "causes": (1.5, Text("known cause", "常见原因")),
    "signals": (1.0, Text("signal", "信号")),
    "summary": (1.0, Text("summary", "概述")),
    "layer": (1.0, Text("layer", "层级")),
    "steps": (0.4, Text("steps", "处理步骤")),
}


class Found(msgspec.Struct, frozen=True):
    """A word of an entry that answers a word asked for; `near` is 1 for the very word."""

    entry: str
    field: str
    word: str
    near: float
    value: float


class Index:
    """Words of one table: word -> where it stands."""

    def __init__(self, table: Table) -> None:
        self.entries = len(table)
        self._where: dict[str, dict[str, str]] = defaultdict(dict)
        self._titles = {
            entry.id: [set(tokens(own)) for own in _both(entry.title)]
            for entry in table.entries.values()
        }
        self._phrases: dict[str, dict[str, set[str]]] = defaultdict(dict)
        for entry in table.entries.values():
            for field, text in texts(entry):
                self._add(entry.id, field, text)
                if FIELDS[field][0] >= FIELDS["title"][0]:
                    self._phrases[entry.id][text] = set(tokens(text))

    def _add(self, entry: str, field: str, text: str) -> None:
        for token in tokens(text):
            held = self._where[token].get(entry)
            if held is None or FIELDS[held][0] < FIELDS[field][0]:
                self._where[token][entry] = field

    def phrase(self, entry: str, asked: set[str]) -> str:
        """Return the longest title or keyword of two words and more that `asked` holds whole."""
        said = [p for p, own in self._phrases[entry].items() if len(own) > 1 and own <= asked]
        return max(said, key=len, default="")

    def said_of_title(self, entry: str, words: set[str]) -> float:
        """Return the share of the entry's title that `words` hold, in the better language."""
        titles = [own for own in self._titles[entry] if own]
        return max((len(own & words) / len(own) for own in titles), default=0.0)

    def find(self, asked: str) -> list[Found]:
        """Return by entry the best answer to one word; spelling counts only if nothing else."""
        exact = self._answers({asked: 1.0} if asked in self._where else {})
        near = {w: n for w in self._where if w != asked and (n := nearness(asked, w)) > 0}
        if exact or any(n > 0.5 for n in near.values()):
            near = {w: n for w, n in near.items() if n > 0.5}
        best = {own.entry: own for own in self._answers(near)}
        for own in exact:
            if own.entry not in best or best[own.entry].value < own.value:
                best[own.entry] = own
        return list(best.values())

    def _answers(self, words: Mapping[str, float]) -> list[Found]:
        best: dict[str, Found] = {}
        for word, near in words.items():
            where = self._where[word]
            rare = math.log((self.entries + 1) / (len(where) + 0.5))
            for entry, field in where.items():
                value = near * rare * FIELDS[field][0]
                if entry not in best or best[entry].value < value:
                    best[entry] = Found(entry, field, word, near, value)
        return list(best.values())


@lru_cache(maxsize=4)
def index(table: Table) -> Index:
    """Return the index of `table`, built once."""
    return Index(table)


def texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield all text of an entry with the field that it counts for."""
    yield "words", entry.id
    yield "layer", entry.layer
    yield from (("title", own) for own in _both(entry.title))
    yield from (("summary", own) for own in _both(entry.summary))
    yield from (("words", word) for words in entry.words.values() for word in words)
    yield from (("codes", code.replace(":", " ")) for code in entry.codes)
    yield from (("causes", own) for cause in entry.causes for own in _both(cause))
    yield from (("steps", own) for step in entry.checks for own in _both(step.text))
    yield from (("steps", own) for step in entry.actions for own in _both(step.text))
    for predicate in (*entry.need, *entry.support):
        for part in parts(predicate):
            yield from (("signals", own) for own in _both(label(CATALOGUE[part.signal])))
            yield from (("codes", code.partition(":")[2]) for code in part.codes)


def _both(text: Text) -> tuple[str, ...]:
    return tuple(own for own in (text.en, text.zh) if own)
