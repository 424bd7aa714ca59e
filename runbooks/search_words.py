"""Finds entries by the words that people use."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from forewarn.language import Text
from runbooks.index import FIELDS, Found, index
from runbooks.table import Table
from runbooks.tally import Tally
from runbooks.words import asked, merged, synonyms

SYNONYM = 0.5
PHRASE = 6.0  # a keyword of several words stands whole in the query
TITLE_SAID = 0.3  # a title that is said whole is meant; one of many words is just mentioned


def by_words(table: Table, words: str, tally: Tally) -> Iterator[Text]:
    """Count the entries that hold the words; yield which words none holds."""
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
