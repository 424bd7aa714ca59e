"""Which movements of a finding satisfy the movement of a predicate."""

from forewarn.catalogue import Movement

# Families word one fault differently (a step found late is a level): what lies on the same side
# satisfies. A stronger fact satisfies a weaker one (zero is down), not the other way round.
SATISFIED_BY: dict[Movement, frozenset[Movement]] = {
    "up": frozenset({"up", "step_up", "grows", "above"}),
    "step_up": frozenset({"step_up", "up", "grows"}),
    "grows": frozenset({"grows", "up", "step_up"}),
    "down": frozenset({"down", "step_down", "below", "zero"}),
    "step_down": frozenset({"step_down", "down", "zero"}),
    "event": frozenset({"event", "mismatch", "nonzero", "grows", "flap"}),
    "nonzero": frozenset({"nonzero", "event"}),
    "mismatch": frozenset({"mismatch", "event"}),
    "flap": frozenset({"flap"}),
    "spike": frozenset({"spike"}),
    "zero": frozenset({"zero"}),
    "stuck": frozenset({"stuck"}),
    "above": frozenset({"above"}),
    "below": frozenset({"below"}),
    "absent": frozenset({"absent"}),
    "outlier": frozenset({"outlier"}),
    "all": frozenset({"all"}),
}


def satisfies(found: Movement, wanted: Movement | None) -> bool:
    """Say whether a finding that moves `found` is what a predicate that wants `wanted` means."""
    return wanted is None or found in SATISFIED_BY[wanted]
