import pytest

from detector.incidents.causes import LISTED, NAMED, Causes
from forewarn.language import Text
from runbooks.model import Edge, Entry, Predicate
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu, job

GPU = gpu(1, 3)


def entry(id_: str, **more: object) -> Entry:
    fields = {
        "rev": 1, "status": "active", "owner": "x", "kind": "cause", "layer": "gpu",
        "entity": "gpu", "severity": "major", "title": Text(id_, id_),
    } | more  # fmt: skip
    return Entry(id=id_, **fields)  # type: ignore[arg-type]


def seen(signal: str, movement: str, *codes: str) -> Predicate:
    return Predicate(signal=signal, movement=movement, codes=codes)  # type: ignore[arg-type]


HOT_SEEN = seen("gpu_temperature_celsius", "up")
HOT_CAUSE = entry(
    "GPU-TP-01",
    need=(Predicate(any=(HOT_SEEN, seen("gpu.clock_event", "event"))),),
    support=(seen("job_step_seconds", "step_up"),),
    absorbs=("nvidia.xid:45", "GPU-TP-09"),
)  # fmt: skip
CHILD = entry("GPU-TP-09", need=(seen("gpu_core_clock_hertz", "down"),))
BY_EDGE = entry(
    "NIC-03", need=(seen("nic_symbol_errors_total", "grows"),), edges=(Edge(to="SYM-01"),)
)
LISTED_ONLY = entry("NIC-06", need=(seen("nic_link_downed_total", "grows"),))
SYMPTOM = entry(
    "SYM-01",
    kind="symptom",
    need=(seen("job_tokens_per_second", "step_down"),),
    leads_to={"one rank": ("NIC-06",)},
)
OLD = entry("GPU-TP-08", status="deprecated", need=HOT_CAUSE.need)
CAUSES = Causes([HOT_CAUSE, CHILD, BY_EDGE, LISTED_ONLY, SYMPTOM, OLD])


def test_causes_are_called_by_what_they_need_and_deprecated_ones_are_not() -> None:
    hot = finding(samples.HOT, GPU, 0)
    assert CAUSES.called([hot]) == {"GPU-TP-01"}
    assert CAUSES.called([finding(samples.TOKENS_DOWN, job(), 0)]) == frozenset()


@pytest.mark.parametrize(
    ("own", "firmness"),
    [("GPU-TP-01", NAMED), ("NIC-03", NAMED), ("NIC-06", LISTED), ("GPU-TP-09", 0), ("none", 0)],
)
def test_effect_on_a_job_is_as_firm_as_the_entry_says_it(own: str, firmness: int) -> None:
    assert CAUSES.effect([own], "slow") == firmness


def test_entry_names_what_it_supports_and_what_its_edges_lead_to() -> None:
    assert CAUSES.name(["GPU-TP-01"], finding(samples.STEP_UP, job(), 0))
    assert CAUSES.name(["NIC-03"], finding(samples.TOKENS_DOWN, job(), 0))
    assert not CAUSES.name(["NIC-03"], finding(samples.STEP_UP, job(), 0))


def test_absorbed_are_codes_and_entries() -> None:
    xid_45 = finding({**samples.XID_79, "code": "nvidia.xid:45"}, GPU, 0)
    assert CAUSES.absorbs("GPU-TP-01", xid_45)
    assert CAUSES.absorbs("GPU-TP-01", finding(samples.CLOCK_DOWN, GPU, 0))
    assert not CAUSES.absorbs("GPU-TP-01", finding(samples.XID_79, GPU, 0))
    assert not CAUSES.absorbs("unknown", xid_45)


@pytest.mark.parametrize(("seconds", "absorbed"), [(5, True), (59, True), (90, False)])
def test_child_of_the_leading_cause_is_absorbed_within_a_minute(
    stage: Stage, seconds: float, absorbed: bool
) -> None:
    child = finding({**samples.XID_79, "code": "nvidia.xid:45"}, GPU, seconds)
    stage.feed(finding(samples.XID_79, GPU, 0), child)
    (incident,) = stage.living()
    assert incident.hypotheses[0].entry == "GPU-CORE-01"
    assert incident.absorbed == ((child.id,) if absorbed else ())
