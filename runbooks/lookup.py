"""Finds entries for what a person asks, in either language, and says why each was found."""

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from forewarn import codes as code_names
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.language import LANGUAGES, Text
from runbooks.evidence import parts, signals
from runbooks.index import FIELDS, Found, index
from runbooks.model import Entry, EntryKind, Predicate
from runbooks.query import Query, SignalAsked, read
from runbooks.render import label
from runbooks.table import Table
from runbooks.vendor_actions import advice_text
from runbooks.words import asked, merged, synonyms

LIMIT = 10
# What an exact mention is worth beside words (a rare word of a title is worth about 12).
ID_VALUE = 100.0
CODE_VALUES = {"codes": 30.0, "need": 30.0, "support": 12.0, "absorbs": 8.0, "against": 4.0}
SIGNAL_VALUES = {"need": 24.0, "support": 10.0, "against": 2.0}
OTHER_MOVEMENT = 0.3  # the signal is the one asked for, its movement another
ANY_CODE = 0.4
BARE_NUMBER = 0.5
SYNONYM = 0.5
PHRASE = 6.0  # a keyword of several words stands whole in the query
TITLE_SAID = 0.3  # a title that is said whole is meant; one of many words is just mentioned
DRAFT = 0.85  # an active entry leads a draft that says the same
DEPRECATED = 0.3
LED_TO = 0.3  # what a found symptom leads to, as a share of the symptom's own score
_PARTS = {
    "codes": Text("is a code of the entry", "是该条目的代码"),
    "need": Text("is what the entry needs", "是该条目的必要证据"),
    "support": Text("supports the entry", "是该条目的支持证据"),
    "against": Text("speaks against the entry", "是该条目的反对证据"),
    "absorbs": Text("accompanies the entry and is folded into it", "是该条目的伴生现象"),
}


class Hit(msgspec.Struct, frozen=True):
    """An entry that answers, how well, and why; a draft's steps are not checked yet."""

    entry: Entry
    score: float
    why: tuple[Text, ...]

    @property
    def draft(self) -> bool:
        """Say whether the entry is a draft."""
        return self.entry.status == "draft"


class Answer(msgspec.Struct, frozen=True):
    """The hits, best first, and notes on what was not understood or found only nearly."""

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[Text, ...] = ()
    nearest: bool = False


class _Tally:
    """Adds up what speaks for each entry."""

    def __init__(self) -> None:
        self.scores: dict[str, float] = defaultdict(float)
        self.why: dict[str, list[tuple[float, Text]]] = defaultdict(list)

    def add(self, entry: str, value: float, why: Text) -> None:
        self.scores[entry] += value
        self.why[entry].append((value, why))

    def hits(self, table: Table) -> list[Hit]:
        found = [
            Hit(entry, round(score * _standing(entry), 3), self.reasons(own))
            for own, score in self.scores.items()
            if (entry := table.get(own)) is not None
        ]
        return sorted(found, key=_order)

    def reasons(self, entry: str) -> tuple[Text, ...]:
        ordered = sorted(self.why[entry], key=lambda reason: -reason[0])
        return tuple(dict.fromkeys(text for _, text in ordered))[:6]


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
    asked_for, tally = read(query), _Tally()
    notes = [*_by_id(table, asked_for, tally), *_by_code(table, asked_for, tally)]
    notes += _by_signal(table, asked_for, tally)
    notes += _by_words(table, asked_for.words, tally)
    _led_to(table, tally)
    hits = [hit for hit in tally.hits(table) if kind is None or hit.entry.kind == kind]
    if hits:
        return Answer(query, tuple(hits[:limit]), tuple(notes))
    notes.append(Text("Nothing answers; these are the nearest.", "没有匹配条目，以下为最接近的。"))
    nearest = [hit for hit in _nearest(table, asked_for) if kind is None or hit.entry.kind == kind]
    return Answer(query, tuple(nearest[: min(limit, 5)]), tuple(notes), nearest=True)


def _order(hit: Hit) -> tuple[float, bool, bool, str]:
    return (-hit.score, hit.draft, hit.entry.kind != "symptom", hit.entry.id)


def _standing(entry: Entry) -> float:
    return {"draft": DRAFT, "deprecated": DEPRECATED}.get(entry.status, 1.0)


def _by_id(table: Table, query: Query, tally: _Tally) -> Iterator[Text]:
    for own in query.ids:
        if own in table.entries:
            tally.add(own, ID_VALUE, Text("its id was asked for", "按编号查询"))
            continue
        near = difflib.get_close_matches(own, table.entries, n=3, cutoff=0.5)
        for other in near:
            tally.add(other, 1.0, Text(f"its id is near {own}", f"编号与 {own} 相近"))
        yield Text(f"No entry is called {own}.", f"没有编号为 {own} 的条目。")


def _by_code(table: Table, query: Query, tally: _Tally) -> Iterator[Text]:
    for code in query.codes:
        found = _count_code(table, partial(_same_code, asked_code=code), code, 1.0, tally)
        if advice := advice_text(code):
            yield advice
        if not found:
            yield Text(f"No entry names the code {code}.", f"没有条目包含代码 {code}。")
    numbers = [word for word in query.words.split() if word.isdigit()]
    for bare in query.bare_codes:
        if not _count_code(table, partial(_is_own, asked_part=bare), bare, 1.0, tally):
            yield Text(f"No entry names the code {bare}.", f"没有条目包含代码 {bare}。")
    for number in numbers:
        _count_code(table, partial(_is_own, asked_part=number), number, BARE_NUMBER, tally)


def _same_code(own: str, asked_code: str) -> bool:
    if code_names.matches(own, asked_code) or code_names.matches(asked_code, own):
        return True
    same_space = code_names.namespace(own) == code_names.namespace(asked_code)
    return same_space and own.endswith(f"_{_own_part(asked_code)}")


def _is_own(own: str, asked_part: str) -> bool:
    return _own_part(own) == asked_part


def _own_part(code: str) -> str:
    return code.partition(":")[2]


def _count_code(
    table: Table, fits: Callable[[str], bool], code: str, share: float, tally: _Tally
) -> bool:
    """Count the entries that name a code that fits; say whether there are any."""
    found = False
    for entry in table.entries.values():
        where = [(_code_value(part, own), part) for part, own in _codes_of(entry) if fits(own)]
        if where:
            found = True
            value, part = max(where)
            said = _PARTS[part]
            why = Text(f"code {code} {said.en}", f"代码 {code} {said.zh}")
            tally.add(entry.id, share * value, why)
    return found


def _code_value(part: str, code: str) -> float:
    """Return what a code is worth in a part of an entry; a whole namespace tells less."""
    return CODE_VALUES[part] * (ANY_CODE if code.endswith(":any") else 1.0)


def _codes_of(entry: Entry) -> Iterator[tuple[str, str]]:
    yield from (("codes", code) for code in entry.codes)
    yield from (("absorbs", item) for item in entry.absorbs if ":" in item)
    for part, predicate in _predicates(entry):
        is_event = CATALOGUE[predicate.signal].kind is Kind.EVENT
        codes = predicate.codes or ((f"{predicate.signal}:any",) if is_event else ())
        yield from ((part, code) for code in codes)


def _predicates(entry: Entry) -> Iterator[tuple[str, Predicate]]:
    for part in ("need", "support", "against"):
        for predicate in getattr(entry, part):
            yield from ((part, own) for own in parts(predicate))


def _by_signal(table: Table, query: Query, tally: _Tally) -> Iterator[Text]:
    yield from (_strange(name) for name in query.strange)
    for own in query.signals:
        before = dict(tally.scores)
        for entry in table.entries.values():
            _count_signal(entry, own, tally)
        if before == tally.scores:
            name = label(CATALOGUE[own.name])
            yield Text(
                f"No entry speaks of {own.name} ({name.en}).",
                f"没有条目涉及 {own.name}（{name.zh}）。",
            )


def _strange(name: str) -> Text:
    known = [*CATALOGUE, *(alias for signal in CATALOGUE.values() for alias in signal.aliases)]
    near = ", ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.5))
    english = f"No signal or code is called {name}" + (f"; near: {near}." if near else ".")
    chinese = f"没有名为 {name} 的信号或代码" + (f"，相近的有：{near}。" if near else "。")
    return Text(english, chinese)


def _count_signal(entry: Entry, own: SignalAsked, tally: _Tally) -> None:
    best: dict[str, float] = {}
    for part, predicate in _predicates(entry):
        if own.name in signals(predicate):
            fits = not own.movements or predicate.movement in own.movements
            value = SIGNAL_VALUES[part] * (1.0 if fits else OTHER_MOVEMENT)
            best[part] = max(best.get(part, 0.0), value)
    if best:
        part = max(best, key=lambda p: best[p])
        name, said = label(CATALOGUE[own.name]), _PARTS[part]
        asked_word = f"={own.word}" if own.movements and own.word else ""
        why = Text(
            f"signal {own.name}{asked_word} ({name.en}) {said.en}",
            f"信号 {own.name}{asked_word}（{name.zh}）{said.zh}",
        )
        tally.add(entry.id, best[part], why)


def _by_words(table: Table, words: str, tally: _Tally) -> Iterator[Text]:
    if not words:
        return
    own = asked(words)
    answers = {token: index(table).find(token) for token in own}
    further = [token for token in synonyms(words) if token not in answers]
    more = [answer for token in further for answer in index(table).find(token)]
    by_entry: dict[str, list[tuple[str, Found]]] = defaultdict(list)
    for token, found in answers.items():
        for answer in found:
            by_entry[answer.entry].append((token, answer))
    for entry, pairs in by_entry.items():
        share = len(pairs) / len(own)  # who answers all words leads who answers one well
        value = sum(answer.value for _, answer in pairs) * share
        said = index(table).said_of_title(entry, {answer.word for _, answer in pairs})
        tally.add(entry, value * (1 + TITLE_SAID * said), _why_words(words, pairs))
        if phrase := index(table).phrase(entry, set(own)):
            tally.add(entry, PHRASE, Text(f"'{phrase}' is said whole", f"完整包含“{phrase}”"))
    for entry, (value, word) in _best_synonyms(more).items():
        tally.add(entry, value, Text(f"'{word}' means the same", f"“{word}”含义相同"))
    yield from _unanswered(words, answers, bool(more))


def _best_synonyms(found: Iterable[Found]) -> dict[str, tuple[float, str]]:
    best: dict[str, tuple[float, str]] = {}
    for own in found:
        if own.near == 1.0 and FIELDS[own.field][0] >= 1.5:
            value = (SYNONYM * own.value, own.word)
            best[own.entry] = max(best.get(own.entry, (0.0, "")), value)
    return best


def _why_words(words: str, pairs: list[tuple[str, Found]]) -> Text:
    fields: dict[str, list[tuple[str, Found]]] = defaultdict(list)
    for token, answer in pairs:
        fields[answer.field].append((token, answer))
    english, chinese = [], []
    for field in sorted(fields, key=lambda f: -FIELDS[f][0]):
        own = fields[field]
        exact = merged(words, [token for token, answer in own if answer.near == 1.0])
        near = [f"{answer.word} (~{token})" for token, answer in own if answer.near < 1.0]
        listed = ", ".join([*exact, *near])
        english.append(f"{FIELDS[field][1].en}: {listed}")
        chinese.append(f"{FIELDS[field][1].zh}：{listed}")
    return Text("; ".join(english), "；".join(chinese))


def _unanswered(words: str, answers: dict[str, list[Found]], helped: bool) -> Iterator[Text]:
    missing = [token for token, found in answers.items() if not found]
    latin_or_whole = [t for t in missing if t.isascii()] or (
        merged(words, missing) if len(missing) == len(answers) and not helped else []
    )
    if latin_or_whole:
        listed = ", ".join(latin_or_whole)
        yield Text(f"No entry holds: {listed}.", f"没有条目包含：{listed}。")


def _led_to(table: Table, tally: _Tally) -> None:
    """Let the best symptoms found lead on to their causes, which stay behind them."""
    for hit in tally.hits(table)[:2]:
        symptom, score = hit.entry.id, tally.scores[hit.entry.id]
        for answer, entries in hit.entry.leads_to.items():
            why = Text(f"{symptom} leads to it ({answer})", f"由 {symptom} 指向（{answer}）")
            for own in entries:
                room = max(0.0, 0.95 * hit.score - tally.scores[own])
                tally.add(own, min(LED_TO * score, room), why)


def _nearest(table: Table, query: Query) -> list[Hit]:
    """Return entries by likeness of letters; the entry points where there is none."""
    text = query.text.casefold()
    if by_code := _near_codes(table, query):
        return by_code
    found = []
    for entry in table.entries.values():
        near = max(_likeness(text, own) for own in _names(entry))
        why = Text("spelled most like it", "写法最接近")
        if near < 0.3:
            if entry.kind != "symptom":
                continue
            why = Text("an entry point to start from", "可作为排查起点的现象")
        found.append(Hit(entry, round(near * _standing(entry), 3), (why,)))
    return sorted(found, key=_order)


def _near_codes(table: Table, query: Query) -> list[Hit]:
    """Return the entries that name the codes nearest to an unknown one, in its namespace."""
    known = {code: entry for entry in table.entries.values() for _, code in _codes_of(entry)}
    hits: dict[str, Hit] = {}
    for code in query.codes:
        space = code_names.namespace(code)
        own = [other for other in known if code_names.namespace(other) == space]
        for other in _closest(code, own):
            why = Text(f"names the code {other}, near {code}", f"包含相近代码 {other}")
            entry = known[other]
            hits.setdefault(entry.id, Hit(entry, 0.5 * _standing(entry), (why,)))
    return sorted(hits.values(), key=_order)


def _closest(code: str, others: list[str]) -> list[str]:
    number = _own_part(code)
    if not number.isdigit():
        return difflib.get_close_matches(code, others, n=3, cutoff=0.6)
    numbered = [other for other in others if _own_part(other).isdigit()]
    numbered.sort(key=lambda other: abs(int(_own_part(other)) - int(number)))
    return numbered[:3] or others[:3]


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
