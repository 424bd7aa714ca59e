"""Brings an entry into the catalogue's terms: names for aliases, one spelling of codes, checks."""

from collections.abc import Iterator

import msgspec

from forewarn import codes as code_names
from forewarn.catalogue import CATALOGUE, MOVEMENTS, Kind, Movement, Signal
from forewarn.errors import ForewarnError, UnknownSignalError
from runbooks import places
from runbooks.model import Case, CaseFinding, Entry, Predicate

PREDICATES = ("need", "support", "against")


class Fault(msgspec.Struct, frozen=True):
    """What is wrong at one path of an entry."""

    path: str
    message: str


class Resolver:
    """Resolves one entry; `faults` holds what could not be resolved."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def entry(self, entry: Entry) -> Entry:
        """Return `entry` in the catalogue's terms."""
        parts: dict[str, object] = {
            part: tuple(
                self._predicate(p, f"{part}[{i}]") for i, p in enumerate(getattr(entry, part))
            )
            for part in PREDICATES
        }
        for key in ("codes", "cancelled_by"):
            parts[key] = self._codes(getattr(entry, key), key)
        parts["absorbs"] = tuple(
            self._code(item, f"absorbs[{i}]") if ":" in item else item
            for i, item in enumerate(entry.absorbs)
        )
        parts["tests"] = tuple(self._case(c, f"tests[{i}]") for i, c in enumerate(entry.tests))
        return msgspec.structs.replace(entry, **parts)

    def _fault(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def _predicate(self, predicate: Predicate, path: str) -> Predicate:
        if predicate.any:
            if predicate.signal:
                self._fault(path, "has both signal and any; keep one")
            inner = enumerate(predicate.any)
            found = tuple(self._predicate(p, f"{path}.any[{i}]") for i, p in inner)
            return msgspec.structs.replace(predicate, any=found)
        signal = self._signal(predicate.signal, f"{path}.signal")
        if signal is None:
            return predicate
        at = predicate.at or places.default(signal.entity)
        before = len(self.faults)
        own = self._codes(predicate.codes, f"{path}.codes")
        readable = own if len(self.faults) == before else ()
        for message in _contradictions(predicate, signal, readable):
            self._fault(path, message)
        return msgspec.structs.replace(predicate, signal=signal.name, at=at, codes=own)

    def _signal(self, name: str, path: str) -> Signal | None:
        if not name:
            self._fault(path, "is missing; name a signal of the catalogue, or use any: [...]")
            return None
        try:
            return CATALOGUE.resolve(name)
        except UnknownSignalError as error:
            self._fault(path, str(error))
            return None

    def _codes(self, given: tuple[str, ...], path: str) -> tuple[str, ...]:
        return tuple(self._code(code, f"{path}[{i}]") for i, code in enumerate(given))

    def _code(self, code: str, path: str) -> str:
        try:
            normal = code_names.normal(code)
        except ForewarnError as error:
            self._fault(path, str(error))
            return code
        row = CATALOGUE.get(code_names.namespace(normal))
        if row is None or row.kind is not Kind.EVENT:
            namespace = code_names.namespace(normal)
            self._fault(path, f"code {code!r}: no event of the catalogue is called {namespace!r}")
        return normal

    def _case(self, case: Case, path: str) -> Case:
        findings = tuple(
            self._case_finding(f, f"{path}.findings[{i}]") for i, f in enumerate(case.findings)
        )
        collected = {
            entity: tuple(self._name(n, f"{path}.collected.{entity}") for n in names)
            for entity, names in case.collected.items()
        }
        return msgspec.structs.replace(case, findings=findings, collected=collected)

    def _case_finding(self, finding: CaseFinding, path: str) -> CaseFinding:
        name = self._name(finding.signal, f"{path}.signal")
        code = self._code(finding.code, f"{path}.code") if finding.code else ""
        return msgspec.structs.replace(finding, signal=name, code=code)

    def _name(self, name: str, path: str) -> str:
        signal = self._signal(name, path)
        return signal.name if signal else name


def _contradictions(predicate: Predicate, signal: Signal, codes: tuple[str, ...]) -> Iterator[str]:
    name, movement = signal.name, predicate.movement
    if movement is None:
        yield f"{name} needs a movement, one of {', '.join(sorted(_fitting(signal)))}"
    elif signal.kind not in MOVEMENTS[movement].kinds:
        fit = ", ".join(sorted(_fitting(signal)))
        yield f"{movement} does not fit {name}, a {signal.kind}; use one of {fit}"
    if predicate.at and signal.entity not in places.ROW_KINDS[predicate.at]:
        fits = [at for at in places.AT_WORDS if signal.entity in places.ROW_KINDS[at]]
        yield f"{name} lives on {signal.entity}, not under {predicate.at}; at: {' | '.join(fits)}"
    if codes and signal.kind is not Kind.EVENT:
        yield f"{name} is a {signal.kind} and has no codes; remove them"
    for space in {code_names.namespace(c) for c in codes} - {name}:
        if signal.kind is Kind.EVENT:
            yield f"code of {space} under {name}; give it a predicate of its own (any: [...])"
    if predicate.value is not None and movement not in {"above", "below"}:
        yield f"value goes with above and below only, not with {movement}"
    if movement in {"above", "below"} and predicate.value is None and signal.floor is None:
        yield f"{name} has no floor in the catalogue; give a value in {signal.unit}"


def _fitting(signal: Signal) -> set[Movement]:
    return {m for m, row in MOVEMENTS.items() if signal.kind in row.kinds}
