"""What is known when an incident is judged: present, absent and not collected stay apart."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from forewarn import codes as code_names
from forewarn import entity as entities
from forewarn.incident import EvidenceState
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding
from runbooks import readings
from runbooks.collected import Collected
from runbooks.model import At, Predicate
from runbooks.movement import satisfies
from runbooks.relations import Relations

# A line of the job's log without codes means any known line: also those with a namespace.
WIDER = {"job.log_event": ("job.log_event", "nccl.error", "cuda.error", "hccl.error")}


class Seen(msgspec.Struct, frozen=True):
    """The state of one predicate at one entity, with the findings that made it present."""

    state: EvidenceState
    findings: tuple[Finding, ...] = ()


_ABSENT, _UNKNOWN = Seen("absent"), Seen("not_collected")


class Evidence:
    """The findings of one incident and what is collected around them.

    `job` is the incident's job, where there is one. `at_unix_nano` is the time of judgement (when
    the latest finding began unless given): a finding that closed before it by more than the
    predicate's window does not count. What began together is judged together for as long as any of
    it lasts: a code is said once, what it did goes on.
    """

    def __init__(
        self,
        findings: Iterable[Finding],
        inventory: Inventory,
        job: str = "",
        at_unix_nano: int | None = None,
    ) -> None:
        self.findings = tuple(findings)
        self.inventory = inventory
        self.job = job
        latest = max((f.opened_at_unix_nano for f in self.findings), default=0)
        self.at_unix_nano = latest if at_unix_nano is None else at_unix_nano
        self.relations = Relations(inventory, self.findings, job)
        self._by_signal: dict[str, list[Finding]] = defaultdict(list)
        for finding in self.findings:
            self._by_signal[finding.signal].append(finding)
        self._readings = readings.latest(self.findings)
        self._collected = Collected(inventory, self.relations, self.findings)
        self._states: dict[tuple[Predicate, str], Seen] = {}

    def seen(self, predicate: Predicate, entity: str) -> Seen:
        """Return the state of `predicate` for a cause that sits at `entity`.

        Of alternatives (`any`) the first present one counts; they are absent only if all are.
        """
        key = (predicate, entity)
        if key not in self._states:
            self._states[key] = self._look(predicate, entity)
        return self._states[key]

    def found(self, predicate: Predicate) -> Iterator[Finding]:
        """Yield the findings that satisfy the predicate at whatever place."""
        for own in predicate.any:
            yield from self.found(own)
        for signal in signals(predicate):
            for finding in self._by_signal.get(signal, ()):
                if _means(predicate, finding) and self._recent(predicate, finding):
                    yield finding

    def siblings(self, finding: Finding) -> set[str]:
        """Return the entities of the finding's kind (its own too) that show the same."""
        kind = entities.kind(finding.entity)
        return {
            own.entity
            for own in self._by_signal[finding.signal]
            if own.movement == finding.movement
            and own.code == finding.code
            and entities.kind(own.entity) == kind
        }

    def coded(self, codes: tuple[str, ...], entity: str, at: At) -> tuple[Finding, ...]:
        """Return the findings that carry one of `codes` and count at a cause at `entity`."""
        return tuple(
            finding
            for finding in self.findings
            if finding.code
            and any(code_names.matches(own, finding.code) for own in codes)
            and self._counts(finding, at, entity)
        )

    def _counts(self, finding: Finding, at: At, entity: str) -> bool:
        meets = self.relations.meet(entity, at, finding.entity)
        return meets or entities.inside(finding.entity, entity)

    def _look(self, predicate: Predicate, entity: str) -> Seen:
        if predicate.any:
            return _either([self.seen(own, entity) for own in predicate.any])
        if predicate.value is not None:
            return self._condition(predicate, predicate.value, entity)
        at = predicate.at or "node"
        here = [f for f in self.found(predicate) if self.relations.meet(entity, at, f.entity)]
        if here:
            return Seen("present", tuple(here))
        collected = any(self._collected.reads(own, at, entity) for own in signals(predicate))
        return _ABSENT if collected else _UNKNOWN

    def _condition(self, predicate: Predicate, value: float, entity: str) -> Seen:
        """Test `above`/`below` on the latest readings; without one it is not known."""
        at = predicate.at or "node"
        held = [
            (reading, finding)
            for (signal, own), (reading, finding) in self._readings.items()
            if signal == predicate.signal and self.relations.meet(entity, at, own)
        ]
        met = [f for reading, f in held if readings.beyond(predicate, reading.value, value)]
        met += [f for f in self.found(predicate) if self.relations.meet(entity, at, f.entity)]
        if met:
            return Seen("present", tuple({f.id: f for f in met}.values()))
        guarded = readings.guarded(predicate, value) and self._collected.reads(
            predicate.signal, at, entity
        )
        return _ABSENT if held or guarded else _UNKNOWN

    def _recent(self, predicate: Predicate, finding: Finding) -> bool:
        closed = finding.closed_at_unix_nano
        window = int(predicate.window_seconds * NANOSECONDS)
        return closed is None or closed >= self.at_unix_nano - window


def signals(predicate: Predicate) -> tuple[str, ...]:
    """Return the names of the signals that one predicate (no alternatives) is seen on."""
    if not predicate.codes and predicate.signal in WIDER:
        return WIDER[predicate.signal]
    return (predicate.signal,) if predicate.signal else ()


def parts(predicate: Predicate) -> tuple[Predicate, ...]:
    """Return the alternatives of a predicate, or itself."""
    return tuple(p for own in predicate.any for p in parts(own)) or (predicate,)


def hardware_class(inventory: Inventory, entity: str) -> str:
    """Return the class that counts are kept by: the model of the entity or its node, else any."""
    return inventory.attribute(entity, "model") or "any"


def _means(predicate: Predicate, finding: Finding) -> bool:
    if not satisfies(finding.movement, predicate.movement):
        return False
    own = readings.observed(finding)
    if (
        predicate.value is not None
        and own
        and not readings.beyond(predicate, own.value, predicate.value)
    ):
        return False
    if not predicate.codes:
        return True
    return any(code_names.matches(own, finding.code) for own in predicate.codes if finding.code)


def _either(seen: list[Seen]) -> Seen:
    for own in seen:
        if own.state == "present":
            return own
    return _UNKNOWN if _UNKNOWN in seen or not seen else _ABSENT
