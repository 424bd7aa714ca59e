"""What speaks for each entry in a look-up: values, reasons, and the order that comes of them."""

from collections import defaultdict

import msgspec

from forewarn.language import Text
from runbooks.model import Entry
from runbooks.table import Table

DRAFT = 0.85  # an active entry leads a draft that says the same
DEPRECATED = 0.3


class Hit(msgspec.Struct, frozen=True):
    """An entry that answers, how well, and why; a draft's steps are not checked yet."""

    entry: Entry
    score: float
    why: tuple[Text, ...]

    @property
    def draft(self) -> bool:
        """Say whether the entry is a draft."""
        return self.entry.status == "draft"


class Tally:
    """Adds up what speaks for each entry."""

    def __init__(self) -> None:
        self.scores: dict[str, float] = defaultdict(float)
        self.why: dict[str, list[tuple[float, Text]]] = defaultdict(list)
        self.firm = False

    def add(self, entry: str, value: float, why: Text, firm: bool = True) -> None:
        """Add to an entry's score; what is only near what was asked for is not firm."""
        self.firm |= firm
        self.scores[entry] += value
        self.why[entry].append((value, why))

    def hits(self, table: Table) -> list[Hit]:
        """Return all entries that something speaks for, best first."""
        found = [
            Hit(entry, round(score * standing(entry), 3), self.reasons(own))
            for own, score in self.scores.items()
            if (entry := table.get(own)) is not None
        ]
        return sorted(found, key=order)

    def reasons(self, entry: str) -> tuple[Text, ...]:
        """Return why, the weightiest first."""
        ordered = sorted(self.why[entry], key=lambda reason: -reason[0])
        return tuple(dict.fromkeys(text for _, text in ordered))[:6]


def order(hit: Hit) -> tuple[float, bool, bool, str]:
    """Return what hits are sorted by: score, active, symptom, id."""
    return (-hit.score, hit.draft, hit.entry.kind != "symptom", hit.entry.id)


def standing(entry: Entry) -> float:
    """Return how much a status lets an entry count."""
    return {"draft": DRAFT, "deprecated": DEPRECATED}.get(entry.status, 1.0)
