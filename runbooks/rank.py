"""Orders the candidates: shares of evidence, points for and against, the next best check."""

import math
from collections.abc import Iterable, Sequence

import msgspec

from forewarn.incident import Hypothesis, Point, Step
from forewarn.language import Text
from runbooks.checks import best_check
from runbooks.evidence import Evidence
from runbooks.match import Candidate
from runbooks.model import Entry
from runbooks.render import predicate_text
from runbooks.score import Counts, Score, Term, score
from runbooks.table import Table
from runbooks.weights import weights

UNKNOWN = "unknown"
# The score of "a cause that is not in the table": what one need of middling weight is worth less
# the doubt; a candidate that rests on one common support stays below it.
UNKNOWN_SCORE = 1.0
LIMIT = 10  # hypotheses shown; shares are over all candidates
UNKNOWN_TITLE = Text("A cause that is not in the runbook", "手册中没有的原因")


def rank(
    table: Table, candidates: Iterable[Candidate], evidence: Evidence, counts: Counts
) -> tuple[Hypothesis, ...]:
    """Return the hypotheses, best first, `unknown` among them.

    Each entry stands once, at the entity where it scores best. `share` is the softmax of the
    scores over all of them: a share of evidence, no probability.
    """
    own = weights(table)
    scores = _best([score(candidate, evidence, own, counts) for candidate in candidates])
    scores = _compared(scores, evidence)
    scores.sort(key=_order)
    shares = _shares([s.total for s in scores] + [UNKNOWN_SCORE])
    shown = [_hypothesis(s, share) for s, share in zip(scores, shares[:-1], strict=True)]
    shown = [*_with_checks(shown[:LIMIT], scores), _unknown(shares[-1])]
    return tuple(sorted(shown, key=lambda hypothesis: -hypothesis.score))


def _order(own: Score) -> tuple[float, bool, bool, str]:
    entry = own.candidate.entry
    return (-round(own.total, 9), entry.kind != "cause", entry.status == "draft", entry.id)


def _best(scores: list[Score]) -> list[Score]:
    """Keep each entry where it scores best; on a tie at the narrower entity."""
    held: dict[str, Score] = {}
    for own in sorted(scores, key=lambda s: (-s.total, -len(s.candidate.entity))):
        held.setdefault(own.candidate.entry.id, own)
    return list(held.values())


def _compared(scores: list[Score], evidence: Evidence) -> list[Score]:
    """Add what depends on the others: a cause after its effect, an entry that another absorbs."""
    by_id = {s.candidate.entry.id: s for s in scores}
    absorbed = {
        child
        for s in scores
        if s.has_need
        for child in s.candidate.entry.absorbs
        if child in by_id and _together(s, by_id[child], evidence)
    }
    return [
        msgspec.structs.replace(
            s, late=_is_late(s, by_id), absorbed=s.candidate.entry.id in absorbed
        )
        for s in scores
    ]


def _together(parent: Score, child: Score, evidence: Evidence) -> bool:
    """Say whether the child sits at, below or on the job of the parent's entity."""
    one, other = parent.candidate.entity, child.candidate.entity
    relations = evidence.relations
    return (
        one == other
        or one in relations.above(other)
        or other in relations.above(one)
        or bool(relations.jobs(one) & relations.jobs(other))
    )


def _is_late(own: Score, by_id: dict[str, Score]) -> bool:
    """Say whether the cause was seen after an effect by more than lag and both clocks allow."""
    mine = own.first_need_seconds()
    if mine is None:
        return False
    for edge in own.candidate.entry.edges:
        effect = by_id[edge.to].first_need_seconds() if edge.to in by_id else None
        if effect and mine[0] - effect[0] > edge.lag_seconds[1] + mine[1] + effect[1]:
            return True
    return False


def _shares(scores: Sequence[float]) -> list[float]:
    top = max(scores)
    powers = [math.exp(own - top) for own in scores]
    return [power / sum(powers) for power in powers]


def _hypothesis(own: Score, share: float) -> Hypothesis:
    entry = own.candidate.entry
    return Hypothesis(
        entry=entry.id,
        rev=entry.rev,
        kind=entry.kind,
        entity=own.candidate.entity,
        title=entry.title,
        score=round(own.total, 4),
        share=share,
        support=_points(t for t in own.terms if t.state == "present" and t.part != "against"),
        against=_points(t for t in own.terms if t.value < 0 and t.state != "not_collected"),
        missing=_points(t for t in own.terms if t.state == "not_collected"),
        status="supported" if own.has_need else "proposed",
        first_step=first_step(entry),
        drain=entry.drain,
        counts=own.counts,
        draft=entry.status == "draft",
    )


def _points(terms: Iterable[Term]) -> tuple[Point, ...]:
    """Return the terms as people read them, the heaviest first."""
    ordered = sorted(terms, key=lambda term: -abs(term.value))
    return tuple(
        Point(
            predicate_text(term.predicate, term.findings),
            term.state,
            round(term.value, 4),
            tuple(finding.id for finding in term.findings),
        )
        for term in ordered
    )


def first_step(entry: Entry) -> Step | None:
    """Return the first thing to do: the first immediate action, else the first check."""
    for action in entry.actions:
        if action.when == "immediate":
            return Step(action.id, action.text, risk=action.risk, needs_approval=action.approval)
    for check in entry.checks[:1]:
        return Step(check.id, check.text, check.run, check.minutes, kind=check.kind)
    return None


def _with_checks(shown: list[Hypothesis], scores: list[Score]) -> list[Hypothesis]:
    """Give each hypothesis its next check; the leader gets the best one of the first five."""
    entries = {s.candidate.entry.id: s.candidate.entry for s in scores}
    shares = {h.entry: h.share for h in shown}
    pool = [entries[h.entry] for h in shown[:5]]
    return [
        msgspec.structs.replace(
            h, next_check=best_check(pool if place == 0 else [entries[h.entry]], shares)
        )
        for place, h in enumerate(shown)
    ]


def _unknown(share: float) -> Hypothesis:
    return Hypothesis(
        entry=UNKNOWN,
        rev=0,
        kind="cause",
        entity="",
        title=UNKNOWN_TITLE,
        score=UNKNOWN_SCORE,
        share=share,
    )
