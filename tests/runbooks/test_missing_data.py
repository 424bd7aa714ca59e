"""What is left of the ranking when part of the signals is not collected.

Evidence is drawn from the entries themselves, so absolute numbers flatter; the trial shows that
ignorance is not taken for absence. A trial: a cause, all its needs, each support with a chance of
70 %, three unrelated findings; then 30 % of all signal names are not collected anywhere. A trial
in which nothing of the fault is left to see is none: no incident would open on it.
"""

import random
from collections.abc import Iterator

import pytest

from forewarn.catalogue import CATALOGUE
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from runbooks import UNKNOWN, Entry, Evidence, Table, match, rank
from runbooks.evidence import parts, signals
from runbooks.model import Predicate
from runbooks.score import FACTORS, score
from runbooks.weights import weights

NODE, GPU, PORT = "node/n7", "node/n7/gpu/0000:1a:00.0", "node/n7/nic/mlx5_0/port/1"
JOB, RANK = "job/4711", "job/4711/rank/3"
# One entity of every kind, all related to one another.
PLACES = {
    "gpu": GPU, "nic_port": PORT, "node": NODE, "disk": f"{NODE}/disk/nvme0",
    "mount": f"{NODE}/mount/data", "storage_target": "storage_target/ost1", "switch": "switch/s1",
    "switch_port": "switch/s1/port/1", "pcie_switch": f"{NODE}/pcie_switch/0", "rack": "rack/r1",
    "pdu": "pdu/p1", "psu": f"{NODE}/psu/1", "cdu": "cdu/c1", "facility": "facility/hall",
    "job": JOB, "rank": RANK, "queue": "queue/q", "cluster": "cluster/c",
    "serving_replica": "serving/s/replica/0", "agent": f"{NODE}/agent/a",
}  # fmt: skip
START = 1_750_000_000 * NANOSECONDS


def finding(predicate: Predicate, number: int) -> Finding:
    row = CATALOGUE[predicate.signal]
    value = None
    if predicate.value is not None:
        value = predicate.value + (1 if predicate.movement == "above" else -1)
    return Finding(
        id=f"f{number}", cluster="c", entity=PLACES[row.entity], signal=row.name, family="band",
        movement=predicate.movement or "event", value_class="number", opened_at_unix_nano=START,
        updated_at_unix_nano=START, code=predicate.codes[0] if predicate.codes else "",
        observed=value, job="4711",
    )  # fmt: skip


def inventory(missing: set[str]) -> Inventory:
    own = Inventory()
    placed = Placement("4711", 3, "n7", (GPU,))
    for kind, entity in PLACES.items():
        names = tuple(r.name for r in CATALOGUE.values() if r.entity == kind)
        item = InventoryItem(
            "c", entity, START,
            {"rack": "r1", "switch": "s1", "loop": "c1", "feed": "p1"} if entity == NODE else {},
            {"all": tuple(name for name in names if name not in missing)},
            placement=placed if entity == RANK else None,
        )  # fmt: skip
        own.apply(item)
    return own


def drawn(entry: Entry, chance: random.Random) -> list[Predicate]:
    needs = [chance.choice(parts(need)) for need in entry.need]
    supports = [chance.choice(parts(own)) for own in entry.support if chance.random() < 0.7]
    return [*needs, *supports]


def trials(table: Table, missing_share: float, seed: int) -> Iterator[tuple[Entry, list[str]]]:
    chance = random.Random(seed)
    noise = [p for e in table.living() for n in e.support for p in parts(n)]
    for entry in table.living():
        if entry.kind != "cause":
            continue
        missing = {n for n in CATALOGUE if chance.random() < missing_share}
        own, other = drawn(entry, chance), chance.sample(noise, 3)
        if all(p.signal in missing for p in own):
            continue
        seen = [p for p in (*own, *other) if p.signal not in missing]
        findings = [finding(p, i) for i, p in enumerate(seen)]
        evidence = Evidence(findings, inventory(missing), "4711")
        ranked = rank(table, match(table, evidence), evidence, {})
        yield entry, [h.entry for h in ranked if h.entry != UNKNOWN]


def share_in_first(table: Table, first: int, missing_share: float, *, drafts: bool = True) -> float:
    hits = [
        entry.id in ranked[:first]
        for seed in range(3)
        for entry, ranked in trials(table, missing_share, seed)
        if drafts or entry.status == "active"
    ]
    return sum(hits) / len(hits)


def test_with_all_signals_the_cause_leads(builtin: Table) -> None:
    # A draft stands back behind an active entry that the same findings speak for.
    assert share_in_first(builtin, 1, 0.0, drafts=False) >= 0.85
    assert share_in_first(builtin, 3, 0.0) >= 0.97


def test_with_30_percent_missing_the_cause_stays_in_the_first_three(builtin: Table) -> None:
    assert share_in_first(builtin, 3, 0.3) >= 0.85


def test_ignorance_never_adds_to_a_score() -> None:
    for (_, state), factor in FACTORS.items():
        if state == "not_collected":
            assert factor <= 0
    for part in ("need", "support"):
        assert FACTORS[part, "not_collected"] < FACTORS[part, "present"]


@pytest.mark.parametrize("seed", range(3))
def test_no_entry_gains_when_what_spoke_for_it_goes_missing(builtin: Table, seed: int) -> None:
    chance, compared = random.Random(seed), 0
    for entry in chance.sample(builtin.living(), 40):
        for_it = [p for own in (*entry.need, *entry.support) for p in parts(own)]
        findings = [finding(p, i) for i, p in enumerate(for_it)]
        gone = chance.choice(for_it).signal
        whole = Evidence(findings, inventory(set()), "4711")
        left = [f for f in findings if f.signal != gone]
        before, after = (
            scores(builtin, whole),
            scores(builtin, Evidence(left, inventory({gone}), "4711")),
        )
        for own in after:
            if not loses_doubt(builtin.entries[own], gone, whole):
                compared += 1
                assert after[own] <= before[own] + 1e-9, (entry.id, gone, own)
    assert compared > 50


def scores(table: Table, evidence: Evidence) -> dict[str, float]:
    """Return by entry the score at the place where it is best."""
    own, best = weights(table), {}
    for candidate in match(table, evidence):
        total = score(candidate, evidence, own, {}).total
        best[candidate.entry.id] = max(best.get(candidate.entry.id, total), total)
    return best


def loses_doubt(entry: Entry, gone: str, whole: Evidence) -> bool:
    """Say whether the lost signal spoke against the entry: then ignorance may well be better."""

    def on_it(predicate: Predicate) -> bool:
        return any(gone in signals(p) for p in parts(predicate))

    absent = [
        need
        for need in entry.need
        if on_it(need) and any(whole.seen(need, p).state == "absent" for p in PLACES.values())
    ]
    return bool(absent) or any(on_it(own) for own in entry.against)


def test_unrelated_signal_missing_changes_nothing(builtin: Table) -> None:
    entry = builtin.entries["GPU-TP-01"]
    findings = [finding(parts(need)[0], i) for i, need in enumerate(entry.need)]
    whole = scores(builtin, Evidence(findings, inventory(set()), "4711"))
    part = scores(builtin, Evidence(findings, inventory({"queue_of_nothing"}), "4711"))
    assert part == whole
