"""Finds entries by what they hold as evidence: codes and signals."""

import difflib
from collections.abc import Callable, Iterator
from functools import partial

from forewarn import codes as code_names
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.language import Text
from runbooks.evidence import parts, signals
from runbooks.model import Entry, Predicate
from runbooks.query import Query, SignalAsked
from runbooks.render import label
from runbooks.table import Table
from runbooks.tally import Tally
from runbooks.vendor_actions import advice_text

# What an exact mention is worth beside words (a rare word of a title is worth about 12).
CODE_VALUES = {"codes": 30.0, "need": 30.0, "support": 12.0, "absorbs": 8.0, "against": 4.0}
SIGNAL_VALUES = {"need": 24.0, "support": 10.0, "against": 2.0}
OTHER_MOVEMENT = 0.3  # the signal is the one asked for, its movement another
ANY_CODE = 0.4  # the entry takes any code of the namespace
BARE_NUMBER = 0.5
NEAR = 5.0  # a neighbour of an unknown code
_PARTS = {
    "codes": Text("is a code of the entry", "是该条目的代码"),
    "need": Text("is what the entry needs", "是该条目的必要证据"),
    "support": Text("supports the entry", "是该条目的支持证据"),
    "against": Text("speaks against the entry", "是该条目的反对证据"),
    "absorbs": Text("accompanies the entry and is folded into it", "是该条目的伴生现象"),
}


def by_code(table: Table, query: Query, tally: Tally) -> Iterator[Text]:
    """Count the entries that name the codes asked for; yield what is to be said besides."""
    for code in query.codes:
        found = _count_code(table, partial(_same_code, asked_code=code), code, 1.0, tally)
        if advice := advice_text(code):
            yield advice
        if not found:
            _count_near_codes(table, code, tally)
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
    table: Table, fits: Callable[[str], bool], code: str, share: float, tally: Tally
) -> bool:
    """Count the entries that name a code that fits; say whether any names it itself."""
    found = False
    for entry in table.entries.values():
        where = [(_code_value(part, own), part) for part, own in _codes_of(entry) if fits(own)]
        if where:
            value, part = max(where)
            itself = any(fits(own) and not own.endswith(":any") for _, own in _codes_of(entry))
            found |= itself
            said = _PARTS[part]
            why = Text(f"code {code} {said.en}", f"代码 {code} {said.zh}")
            tally.add(entry.id, share * value, why, firm=itself)
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


def _count_near_codes(table: Table, code: str, tally: Tally) -> None:
    """Count the entries that name the codes nearest to an unknown one, in its namespace."""
    known = {own: entry.id for entry in table.entries.values() for _, own in _codes_of(entry)}
    space = code_names.namespace(code)
    for other in _closest(code, [own for own in known if code_names.namespace(own) == space]):
        why = Text(f"names the code {other}, near {code}", f"包含相近代码 {other}")
        tally.add(known[other], NEAR, why, firm=False)


def _closest(code: str, others: list[str]) -> list[str]:
    number = _own_part(code)
    if not number.isdigit():
        return difflib.get_close_matches(code, others, n=3, cutoff=0.6)
    numbered = [other for other in others if _own_part(other).isdigit()]
    numbered.sort(key=lambda other: abs(int(_own_part(other)) - int(number)))
    return numbered[:3] or others[:3]


def by_signal(table: Table, query: Query, tally: Tally) -> Iterator[Text]:
    """Count the entries that speak of the signals asked for; yield what was not found."""
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


def _count_signal(entry: Entry, own: SignalAsked, tally: Tally) -> None:
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
