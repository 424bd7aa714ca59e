"""Codes become findings; normal ones do not, bursts are one."""

import pytest

from detector.families.event import BURST_SECONDS
from forewarn.records import NANOSECONDS, Finding
from tests.detector.feed import Bench, event

GPU = "node/n1/gpu/0000:1a:00.0"


def test_code_becomes_a_finding_at_once():
    (own,) = Bench().event(event(0, GPU, "nvidia.xid:79", severity="critical", text="fell off"))
    assert (own.signal, own.family, own.movement) == ("nvidia.xid", "event", "event")
    assert (own.code, own.value_class) == ("nvidia.xid:79", "code")
    assert (own.severity, own.text, own.entity) == ("critical", "fell off", GPU)


def test_other_spelling_of_a_namespace_is_understood():
    (own,) = Bench().event(event(0, GPU, "XID:79"))
    assert own.code == "nvidia.xid:79"


@pytest.mark.parametrize(
    ("entity", "code"),
    [
        ("job/a", "job.state:running"),
        ("job/a", "job.state:completed"),
        ("job/a", "job.state:checkpoint_begin"),
        ("job/a", "job.state:evaluation_end"),
        ("node/n1", "node.maintenance:planned"),
    ],
)
def test_normal_code_is_no_finding(entity, code):
    assert Bench().event(event(0, entity, code)) == []


def test_failed_and_restarted_jobs_are_findings():
    bench = Bench()
    assert bench.event(event(0, "job/a", "job.state:FAILED"))[0].code == "job.state:failed"
    assert bench.event(event(1, "job/a", "job.state:restarted"))


def test_burst_is_one_finding_with_bounded_updates():
    bench = Bench()
    found = [f for i in range(1000) for f in bench.event(event(i * 0.5, GPU, "nvidia.xid:48"))]
    assert len({f.id for f in found}) == 1
    assert [f.seq for f in found] == list(range(1, len(found) + 1))
    assert len(found) < 25
    assert found[-1].effect > 500


def test_different_codes_of_one_second_are_two_findings():
    bench = Bench()
    found = [*bench.event(event(0, GPU, "nvidia.xid:48")), *bench.event(event(0, GPU, "xid:63"))]
    assert len({f.id for f in found}) == 2


def test_second_reading_of_an_event_is_ignored():
    bench = Bench()
    own = event(0, GPU, "nvidia.xid:48", source="kernel_log", boot_id="b", seq=5)
    assert len(bench.event(own)) == 1
    assert bench.event(own) == []
    assert bench.metric("forewarn_frames_duplicate_total") == 1


def test_burst_closes_when_it_is_over():
    bench = Bench()
    (opened,) = bench.event(event(0, GPU, "nvidia.xid:48"))
    cpu = {("node_cpu_utilization_ratio", "node/n1"): 0.5}
    found = bench.run(range(int(BURST_SECONDS) + 5), cpu)
    (closed,) = found
    assert closed.id == opened.id
    assert closed.closed_at_unix_nano is not None


def test_code_of_an_unknown_namespace_is_no_finding():
    assert Bench().event(event(0, GPU, "nobody.knows:1")) == []


def test_event_without_namespace_is_dead_lettered():
    bench = Bench()
    assert bench.event(event(0, GPU, "gibberish")) == []
    assert [letter.reason for letter in bench.dead()] == ["bad_value"]


def test_new_boot_id_of_a_node_is_an_event_once():
    bench = Bench()
    cpu = {("node_cpu_utilization_ratio", "node/n1"): 0.5}
    bench.run(range(3), cpu)
    found = bench.run(range(3, 6), cpu, boot="b2")
    (own,) = found
    assert (own.signal, own.code, own.entity) == ("node.boot_id", "node.boot_id:changed", "node/n1")


PORT = "node/n1/nic/mlx5_0/port/1"


def _link(bench: Bench, *states: tuple[float, str]) -> list[Finding]:
    return [f for at, own in states for f in bench.event(event(at, PORT, f"nic.link_state:{own}"))]


def test_link_that_goes_down_for_the_third_time_flaps():
    found = _link(Bench(), (0, "down"), (5, "active"), (50, "down"), (53, "active"), (90, "down"))
    first, flap = (next(f for f in found if f.movement == own) for own in ("event", "flap"))
    assert flap.opened_at_unix_nano - first.opened_at_unix_nano == 90 * NANOSECONDS
    assert (flap.code, flap.family, flap.entity) == ("nic.link_state:down", "event", PORT)


@pytest.mark.parametrize(
    "states",
    [
        [(0, "down"), (50, "down"), (90, "down")],  # it never came back
        [(0, "down"), (5, "active"), (50, "down"), (60, "active")],
        [(0, "down"), (5, "active"), (400, "down"), (405, "active"), (1100, "down")],
    ],
)
def test_link_that_stays_down_or_goes_down_seldom_does_not_flap(states):
    assert "flap" not in {f.movement for f in _link(Bench(), *states)}


def test_job_that_fails_again_and_again_does_not_flap():
    bench = Bench()
    states = ("failed", "running") * 4
    found = [f for n, own in enumerate(states) for f in bench.event(
        event(n * 30, "job/a", f"job.state:{own}"))]  # fmt: skip
    assert {f.movement for f in found} == {"event"}
