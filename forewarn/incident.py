"""The incident: what decide writes, and what webhooks, CLI and board show."""

from typing import Literal

import msgspec

from forewarn.language import Text
from forewarn.records import Finding, Severity

State = Literal["open", "acknowledged", "mitigated", "resolved", "closed", "merged"]
EvidenceState = Literal["present", "absent", "not_collected"]
HypothesisStatus = Literal["proposed", "supported", "refuted", "confirmed"]
Proof = Literal["diagnostic", "rma", "config_diff", "replay", "expert_opinion"]


class Point(msgspec.Struct, frozen=True):
    """One predicate of a runbook entry, held against the evidence.

    `weight` is what it adds to (or takes from) the score of its hypothesis, in nats; `findings`
    are the ids that made it present.
    """

    text: Text
    state: EvidenceState
    weight: float
    findings: tuple[str, ...] = ()


class Step(msgspec.Struct, frozen=True):
    """A check or an action as it is shown beside an incident.

    `command` is for a shell where `kind` is command, and PromQL where it is query.
    """

    id: str
    text: Text
    command: str = ""
    minutes: float = 0.0
    risk: str = "none"
    needs_approval: bool = False
    kind: Literal["query", "command", "manual"] = "manual"


class Hypothesis(msgspec.Struct, frozen=True):
    """One possible cause: a runbook entry at an entity, with evidence for and against.

    `entry` is "unknown" for the candidate that stands for every cause not in the table. `score`
    is additive, in nats; `share` its softmax over all candidates: a share of evidence, no
    probability. `counts` are the (confirmed, refuted) that the score used. `draft` marks an entry
    whose steps nobody has checked yet.
    """

    entry: str
    rev: int
    kind: str
    entity: str
    title: Text
    score: float
    share: float
    support: tuple[Point, ...] = ()
    against: tuple[Point, ...] = ()
    missing: tuple[Point, ...] = ()
    status: HypothesisStatus = "proposed"
    first_step: Step | None = None
    next_check: Step | None = None
    drain: str = "none"
    counts: tuple[int, int] = (0, 0)
    draft: bool = False


class TimelineItem(msgspec.Struct, frozen=True):
    """One line of an incident's history; it is only ever appended to."""

    time_unix_nano: int
    what: str
    text: str = ""
    by: str = ""


class Feedback(msgspec.Struct, frozen=True):
    """What a person said of the cause: confirmed or refuted, on which proof."""

    entry: str
    rev: int
    verdict: Literal["confirmed", "refuted"]
    proof: Proof | None
    by: str
    time_unix_nano: int
    note: str = ""


class Incident(msgspec.Struct, frozen=True):
    """One incident in one revision (`seq` counts them from 1).

    `id` is a ULID from the time of first evidence and the hash of cluster, key and generation;
    `key` is stable, `generation` rises when a resolved incident opens again. `entity` is where it
    sits, `affected` everything it shows on. `evidence` holds the latest revision of every joined
    finding, the most telling ones where there are many: `evidence_left_out` counts the others, and
    `evidence_left_out_open` those of them that are open. `not_collected` are ids of findings that
    nobody speaks of any more: neither open nor over. `hypotheses` are ranked, best first.
    `absorbed` are ids of findings explained by another one of this incident.
    """

    id: str
    key: str
    generation: int
    seq: int
    cluster: str
    state: State
    severity: Severity
    title: Text
    entity: str
    affected: tuple[str, ...]
    jobs: tuple[str, ...]
    first_evidence_at_unix_nano: int
    detected_at_unix_nano: int
    updated_at_unix_nano: int
    evidence: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    notified_at_unix_nano: int | None = None
    mitigated_at_unix_nano: int | None = None
    resolved_at_unix_nano: int | None = None
    absorbed: tuple[str, ...] = ()
    evidence_left_out: int = 0
    evidence_left_out_open: int = 0
    not_collected: tuple[str, ...] = ()
    merged_into: str = ""
    feedback: tuple[Feedback, ...] = ()
    timeline: tuple[TimelineItem, ...] = ()
