"""Both languages of every text, in step and short enough for the places that show them."""

from collections.abc import Iterator

from forewarn.language import LANGUAGES, Text
from runbooks.model import Entry

# Bytes of UTF-8 (a Chinese sign is three), so that a message with title, cause, first steps and
# evidence stays below the smallest body that a chat takes (20,000 bytes).
LIMITS = {
    "title": 160, "summary": 1500, "text": 600, "run": 1000, "result": 200, "says": 300,
    "cause": 240, "first_question": 300,
}  # fmt: skip
LanguageFault = tuple[str, str, bool]  # path, message, whether it is an error


def language_faults(entry: Entry) -> Iterator[LanguageFault]:
    """Yield what is missing, lagging or too long in an entry's texts."""
    for path, kind, text in texts(entry):
        yield from _too_long(path, kind, text)
        if entry.status == "active":
            yield from _missing(path, text)
    if entry.status != "draft":
        yield from _lagging(entry)
    if not entry.title.en or not entry.title.zh:
        yield "title", "must be in both languages", True


def texts(entry: Entry) -> Iterator[tuple[str, str, Text]]:
    """Yield path, kind and text of everything in an entry that people read."""
    yield "title", "title", entry.title
    yield "summary", "summary", entry.summary
    if entry.kind == "symptom":
        yield "first_question", "first_question", entry.first_question
    yield from ((f"causes[{i}]", "cause", own) for i, own in enumerate(entry.causes))
    for i, check in enumerate(entry.checks):
        yield f"checks[{i}].text", "text", check.text
        yield f"checks[{i}].run", "run", Text(check.run, check.run)
        for j, move in enumerate(check.moves):
            yield f"checks[{i}].moves[{j}].result", "result", move.result
    for i, action in enumerate(entry.actions):
        yield f"actions[{i}].text", "text", action.text
    yield from ((f"conflicts[{i}].says", "says", c.says) for i, c in enumerate(entry.conflicts))
    yield from _optional(entry)


def _optional(entry: Entry) -> Iterator[tuple[str, str, Text]]:
    """Yield the texts that may be empty, where they are not."""
    found = [(f"escalate[{i}].action", own.action) for i, own in enumerate(entry.escalate)]
    found.append(("rma", entry.rma))
    for i, action in enumerate(entry.actions):
        guards = ("precondition", "verify", "rollback")
        found += [(f"actions[{i}].{key}", getattr(action, key)) for key in guards]
    yield from ((path, "text", text) for path, text in found if text.en or text.zh)


def _too_long(path: str, kind: str, text: Text) -> Iterator[LanguageFault]:
    for language in LANGUAGES:
        length = len(getattr(text, language).encode())
        if length > LIMITS[kind]:
            yield f"{path}.{language}", f"takes {length} bytes, at most {LIMITS[kind]}", True


def _missing(path: str, text: Text) -> Iterator[LanguageFault]:
    if path.endswith(".run"):
        return
    for language in LANGUAGES:
        if not getattr(text, language).strip():
            yield f"{path}.{language}", "is missing; an active entry has both languages", True


def _lagging(entry: Entry) -> Iterator[LanguageFault]:
    revisions = {language: entry.text_rev.get(language, entry.rev) for language in LANGUAGES}
    newest = max(revisions.values())
    for language, own in revisions.items():
        if own < newest:
            yield f"text_rev.{language}", f"is {own}, the other is {newest}; translate again", False
