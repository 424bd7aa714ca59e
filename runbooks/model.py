"""What a runbook entry is made of. Every list of words in it is closed; unknown keys are errors."""

import datetime as dt
from typing import Annotated, Literal

import msgspec

from forewarn.catalogue.movements import Movement
from forewarn.language import Text
from forewarn.records import Severity

Status = Literal["draft", "active", "deprecated"]
EntryKind = Literal["cause", "symptom", "outcome"]
# Where a predicate is seen (facts of the catalogue's page): the entity itself or a parent of it.
At = Literal[
    "gpu", "npu", "nic", "switch", "node", "rack", "storage", "facility", "job", "rank", "fleet"
]
Drain = Literal["none", "after_job", "now", "rack"]
Risk = Literal["none", "low", "medium", "high"]
Verb = Literal[
    "observe", "diagnose", "drain_node", "drain_rack", "undrain_node", "restart_job", "stop_job",
    "rollback_checkpoint", "move_job", "reset_gpu", "reboot_node", "power_cycle_node",
    "replace_part", "clean", "reseat", "configure", "update", "escalate", "contact_vendor",
    "free_space", "remount", "throttle", "none",
]  # fmt: skip
Grade = Literal["V", "P", "J"]  # vendor or maker, practice or paper, judgement


class _Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of the file: an unknown key in it is an error."""


class Predicate(_Model, frozen=True, kw_only=True):
    """One thing that can be seen: a signal in a movement, or any one of `any`.

    `codes` limit an event (`nvidia.xid:79`; empty is any code of the signal); `value` is the limit
    of the conditions above and below, in the signal's unit; `at` says where it is seen.
    """

    signal: str = ""
    movement: Movement | None = None
    at: At | None = None
    codes: tuple[str, ...] = ()
    value: float | None = None
    any: tuple["Predicate", ...] = ()
    window_seconds: float = 900.0


class Edge(_Model, frozen=True, kw_only=True):
    """This entry causes `to`, between `lag_seconds` later."""

    to: str
    lag_seconds: tuple[float, float] = (0.0, 600.0)
    relation: Literal["same", "parent", "child", "peer", "job", "path"] = "same"


class Prior(_Model, frozen=True, kw_only=True):
    """How often it was the cause: `count` in `exposure` incidents of `hardware`, by `source`."""

    count: float
    exposure: float
    hardware: str = "any"
    source: str


class Move(_Model, frozen=True, kw_only=True):
    """One result of a check and the entries that it speaks for and against."""

    result: Text
    supports: tuple[str, ...] = ()
    refutes: tuple[str, ...] = ()


class Check(_Model, frozen=True, kw_only=True):
    """Something to look at before acting; `run` is a command or query to copy."""

    id: str
    text: Text
    kind: Literal["query", "command", "manual"]
    run: str = ""
    read_only: bool = True
    minutes: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    moves: tuple[Move, ...] = ()


class Action(_Model, frozen=True, kw_only=True):
    """Something to do. A disruptive one has approval, precondition and verify."""

    id: str
    when: Literal["immediate", "long_term"]
    verb: Verb
    target: str
    text: Text
    risk: Risk = "none"
    approval: bool = False
    precondition: Text = Text()
    verify: Text = Text()
    rollback: Text = Text()
    supersedes: tuple[str, ...] = ()


class Escalation(_Model, frozen=True, kw_only=True):
    """`count` times within `window_seconds` calls for `action`."""

    count: Annotated[int, msgspec.Meta(ge=1)]
    window_seconds: Annotated[float, msgspec.Meta(gt=0)]
    action: Text


class Conflict(_Model, frozen=True, kw_only=True):
    """What one source says where sources disagree."""

    source: str
    says: Text


class Source(_Model, frozen=True, kw_only=True):
    """Where a fact is from."""

    ref: str
    snapshot: str = ""
    grade: Grade = "J"
    licence: str = ""


class CaseFinding(_Model, frozen=True, kw_only=True):
    """A finding of a case: what a family would have said."""

    signal: str
    movement: Movement
    entity: str
    code: str = ""
    value: float | None = None
    seconds: float = 0.0  # after the first


class Expect(_Model, frozen=True, kw_only=True):
    """What must come out: `rank` at most this, or `match` false."""

    rank: int | None = None
    match: bool = True


class Case(_Model, frozen=True, kw_only=True):
    """Named evidence and what this entry must make of it; every entry carries both kinds.

    `collected` are further signals read at an entity that showed nothing (evidence against);
    whatever is neither found nor collected is *not collected*.
    """

    name: str
    findings: tuple[CaseFinding, ...]
    collected: dict[str, tuple[str, ...]] = {}
    expect: Expect


class Entry(_Model, frozen=True, kw_only=True):
    """One row of the runbook table; `id` is never used again, `rev` rises with every change.

    Derived numbers (matched, confirmed, refuted …) are stored apart and never edited by hand.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{2,5}(-[A-Z]{2,5})?-\d{2}$")]
    rev: Annotated[int, msgspec.Meta(ge=1)]
    status: Status
    owner: str
    review_by: dt.date | None = None
    supersedes: tuple[str, ...] = ()
    kind: EntryKind
    layer: str
    entity: At
    scope: tuple[At, ...] = ()
    severity: Severity
    title: Text
    summary: Text = Text()
    text_rev: dict[str, int] = {}
    words: dict[str, tuple[str, ...]] = {}  # further look-up words by language
    applies_to: dict[str, tuple[str, ...]] = {}
    codes: tuple[str, ...] = ()
    need: tuple[Predicate, ...] = ()
    support: tuple[Predicate, ...] = ()
    against: tuple[Predicate, ...] = ()
    edges: tuple[Edge, ...] = ()
    absorbs: tuple[str, ...] = ()  # codes or entries that this one explains on the same entity
    cancelled_by: tuple[str, ...] = ()
    first_question: Text = Text()  # of a symptom
    leads_to: dict[str, tuple[str, ...]] = {}  # of a symptom: answer -> entries
    prior: tuple[Prior, ...] = ()
    causes: tuple[Text, ...] = ()
    checks: tuple[Check, ...] = ()
    actions: tuple[Action, ...] = ()
    drain: Drain = "none"
    escalate: tuple[Escalation, ...] = ()
    rma: Text = Text()
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    tests: tuple[Case, ...] = ()
