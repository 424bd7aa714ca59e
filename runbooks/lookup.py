"""Finds entries for what a person asks, in either language, and says why each was found."""

import difflib
from collections.abc import Iterator

import msgspec

from forewarn.language import LANGUAGES, Text
from runbooks.model import Entry, EntryKind
from runbooks.query import Query, read
from runbooks.search_evidence import NEAR, by_code, by_signal
from runbooks.search_words import by_words
from runbooks.table import Table
from runbooks.tally import Hit, Tally, order, standing

LIMIT = 10
ID_VALUE = 100.0
LED_TO = 0.3  # what a found symptom leads to, as a share of the symptom's own score


class Answer(msgspec.Struct, frozen=True):
    """The hits, best first, and notes on what was not understood or found only nearly."""

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[Text, ...] = ()
    nearest: bool = False


def lookup(
    table: Table,
    query: str,
    limit: int = LIMIT,
    kind: EntryKind | None = None,
) -> Answer:
    """Return the entries that answer `query`, best first.

    A query holds words of either language, codes (`xid 79`, `nvidia.xid:79`, `81078603`), signals
    (`gpu_temperature_celsius=high`, by name or alias) and ids of entries, alone or mixed. Words
    match whole, by their beginning or with a letter or two wrong. What no entry holds gets the
    nearest entries and a note, never nothing. Every reason and note is in both languages.
    """
    asked_for, tally = read(query), Tally()
    notes = [*_by_id(table, asked_for, tally), *by_code(table, asked_for, tally)]
    notes += by_signal(table, asked_for, tally)
    notes += by_words(table, asked_for.words, tally)
    _led_to(table, tally)
    found = [hit for hit in tally.hits(table) if kind is None or hit.entry.kind == kind]
    if found and tally.firm:
        return Answer(query, tuple(found[:limit]), tuple(notes))
    notes.append(Text("Nothing answers; these are the nearest.", "没有匹配条目，以下为最接近的。"))
    nearest = found or [h for h in _nearest(table, asked_for) if kind in {None, h.entry.kind}]
    return Answer(query, tuple(nearest[: min(limit, 5)]), tuple(notes), nearest=True)


def _by_id(table: Table, query: Query, tally: Tally) -> Iterator[Text]:
    for own in query.ids:
        if own in table.entries:
            tally.add(own, ID_VALUE, Text("its id was asked for", "按编号查询"))
            continue
        near = difflib.get_close_matches(own, table.entries, n=3, cutoff=0.5)
        for other in near:
            why = Text(f"its id is near {own}", f"编号与 {own} 相近")
            tally.add(other, NEAR, why, firm=False)
        yield Text(f"No entry is called {own}.", f"没有编号为 {own} 的条目。")


def _led_to(table: Table, tally: Tally) -> None:
    """Let the best symptoms found lead on to their causes, which stay behind them."""
    for hit in tally.hits(table)[:2]:
        symptom, score = hit.entry.id, tally.scores[hit.entry.id]
        for answer, entries in hit.entry.leads_to.items():
            why = Text(f"{symptom} leads to it ({answer})", f"由 {symptom} 指向（{answer}）")
            for own in entries:
                room = max(0.0, 0.95 * hit.score - tally.scores[own])
                tally.add(own, min(LED_TO * score, room), why, firm=False)


def _nearest(table: Table, query: Query) -> list[Hit]:
    """Return entries by likeness of letters; the entry points where there is none."""
    text = query.text.casefold()
    found = []
    for entry in table.entries.values():
        near = max(_likeness(text, own) for own in _names(entry))
        why = Text("spelled most like it", "写法最接近")
        if near < 0.3:
            if entry.kind != "symptom":
                continue
            why = Text("an entry point to start from", "可作为排查起点的现象")
        found.append(Hit(entry, round(near * standing(entry), 3), (why,)))
    return sorted(found, key=order)


def _names(entry: Entry) -> list[str]:
    titles = [getattr(entry.title, language) for language in LANGUAGES]
    words = [word for own in entry.words.values() for word in own]
    return [entry.id.casefold(), *(name.casefold() for name in (*titles, *words))]


def _likeness(one: str, other: str) -> float:
    """Return the share of common pairs of letters (Dice)."""
    mine, theirs = _pairs(one), _pairs(other)
    shared = len(mine & theirs)
    return 2 * shared / (len(mine) + len(theirs)) if shared else 0.0


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}
