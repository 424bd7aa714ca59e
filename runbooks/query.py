"""Reads what a person asks for: entry ids, codes, signals with a word, and words."""

import re

import msgspec

from forewarn import codes as code_names
from forewarn.catalogue import CATALOGUE, Kind, Movement
from forewarn.errors import ForewarnError, UnknownSignalError
from runbooks.words import movements, plain

_ID = re.compile(r"(?<![\w-])([a-z]{2,5}(?:-[a-z]{2,5})?)-(\d{1,2})(?![\w-])")
_SIGNED = re.compile(r"([a-z][\w.]*[a-z\d])\s*(<=|>=|=|<|>)\s*(\S*)")
_CODE = re.compile(r"(?<![\w.])([a-z][a-z0-9_.]*):([\w./-]+)")
_SPOKEN = re.compile(
    r"(?<![\w.])(s?xid|afid|nccl|cuda|hccl|dcgm)\s*(?:errors?|codes?|错误码|错误|码)?\s*[#=-]?\s*"
    r"(\d[\w/]*)"
)
_SPOKEN_SPACE = {
    "xid": "nvidia.xid", "sxid": "nvidia.sxid", "afid": "amd.afid", "nccl": "nccl.error",
    "cuda": "cuda.error", "hccl": "hccl.error", "dcgm": "dcgm.error",
}  # fmt: skip
_BARE_CODE = re.compile(r"(?<![\w.])\d[0-9a-f]{4,}(?![\w.])")
_NAME = re.compile(r"(?<![\w.])[a-z][a-z0-9]*(?:[._][a-z0-9_]+)+(?![\w.])")


class SignalAsked(msgspec.Struct, frozen=True):
    """A signal, and the movements that the word beside it means (none: any)."""

    name: str
    movements: tuple[Movement, ...] = ()
    word: str = ""


class Query(msgspec.Struct, frozen=True):
    """A query taken apart; `strange` are names written like a signal or code that are none."""

    text: str
    ids: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    bare_codes: tuple[str, ...] = ()
    signals: tuple[SignalAsked, ...] = ()
    words: str = ""
    strange: tuple[str, ...] = ()


class _Reader:
    """Takes parts out of a text until only words are left."""

    def __init__(self, text: str) -> None:
        self.rest = plain(text)[:500]
        self.strange: list[str] = []

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        found = list(pattern.finditer(self.rest))
        self.rest = pattern.sub(" ", self.rest)
        return found

    def give_back(self, text: str, strange: str = "") -> None:
        self.rest += f" {text}"
        if strange:
            self.strange.append(strange)


def read(text: str) -> Query:
    """Take a query apart; nothing in it is an error."""
    reader = _Reader(text)
    ids = tuple(f"{m[1].upper()}-{int(m[2]):02}" for m in reader.take(_ID))
    signals = [s for m in reader.take(_SIGNED) if (s := _signed(m, reader))]
    codes = [c for m in reader.take(_CODE) if (c := _code(m[0], reader))]
    codes += [f"{_SPOKEN_SPACE[m[1]]}:{m[2]}" for m in reader.take(_SPOKEN)]
    bare = tuple(m[0] for m in reader.take(_BARE_CODE))
    signals += [s for m in reader.take(_NAME) if (s := _named(m[0], reader))]
    return Query(
        text=text,
        ids=ids,
        codes=tuple(dict.fromkeys(codes)),
        bare_codes=bare,
        signals=tuple(signals),
        words=reader.rest.strip(),
        strange=tuple(reader.strange),
    )


def _signed(match: re.Match[str], reader: _Reader) -> SignalAsked | None:
    name, sign, word = match.groups()
    if name in _SPOKEN_SPACE and word[:1].isdigit():
        reader.give_back(f"{name} {word}")
        return None
    try:
        signal = CATALOGUE.resolve(name)
    except UnknownSignalError:
        reader.give_back(f"{re.sub('[._]', ' ', name)} {word}", name)
        return None
    meant = movements(word) if sign == "=" else movements(sign)
    if not meant and word and sign == "=" and not _is_number(word):
        reader.give_back(word)
    return SignalAsked(signal.name, meant, word)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(\.\d+)?\S{0,4}", text) is not None


def _code(text: str, reader: _Reader) -> str | None:
    try:
        code = code_names.normal(text)
    except ForewarnError:
        code = ""
    row = CATALOGUE.get(code_names.namespace(code)) if code else None
    if row is not None and row.kind is Kind.EVENT:
        return code
    reader.give_back(re.sub("[:._]", " ", text), text)
    return None


def _named(name: str, reader: _Reader) -> SignalAsked | None:
    try:
        return SignalAsked(CATALOGUE.resolve(name).name)
    except UnknownSignalError:
        reader.give_back(re.sub("[._]", " ", name), name)
        return None
