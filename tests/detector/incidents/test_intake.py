import math

import pytest
from prometheus_client import CollectorRegistry

from detector.incidents import kinds
from detector.incidents.clock import StreamClock
from detector.incidents.identity import id_of, key_of
from detector.incidents.intake import Intake, clean
from detector.incidents.kinds import kind_of
from forewarn import wire
from forewarn.bus import Message
from forewarn.catalogue import CATALOGUE
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import Event, Reading
from tests.detector import samples
from tests.detector.samples import finding, gpu, job


@pytest.fixture
def intake() -> Intake:
    return Intake(DeadLetters(MemoryBus().producer(), "decide", CollectorRegistry()))


def event(code: str, entity: str) -> Message:
    own = Event("c", entity, code, samples.T0, "info", "")
    return Message("events", "n0", wire.encode_event(own), 0, 3, samples.T0)


def test_findings_are_taken_in_the_order_in_which_they_opened(intake: Intake) -> None:
    late, early = finding(samples.HOT, gpu(1, 1), 9), finding(samples.HOT, gpu(1, 2), 3)
    again = samples.closed(early, 20)
    batch = intake.take([samples.message(own, n) for n, own in enumerate((late, early, again))])
    assert [own.opened_at_unix_nano for own in batch.findings] == [
        samples.at(3),
        samples.at(3),
        samples.at(9),
    ]
    assert batch.findings[1] == again
    assert batch.offsets == {("findings", 0): 3}


@pytest.mark.parametrize(
    ("code", "entity", "count"),
    [
        ("job.state:completed", job(), 1), ("job.state:FAILED", job(), 1),
        ("job.state:running", job(), 0), ("job.state:checkpoint_begin", job(), 0),
        ("job.state:failed", gpu(1, 1), 0), ("nvidia.xid:79", gpu(1, 1), 0),
    ],
)  # fmt: skip
def test_only_the_end_of_a_job_counts_as_one(
    intake: Intake, code: str, entity: str, count: int
) -> None:
    assert len(intake.take([event(code, entity)]).ends) == count


def test_tombstone_of_the_inventory_is_passed_over(intake: Intake) -> None:
    assert intake.take([Message("inventory", "x", b"", 0, 7, samples.T0)]).offsets == {
        ("inventory", 0): 8
    }


def test_readings_that_are_no_numbers_are_dropped() -> None:
    good = Reading("job_gradient_norm", job(), 4.0, samples.T0)
    bad = Reading("job_loss", job(), math.nan, samples.T0)
    own = finding(samples.NAN, job(), 0, readings=(good, bad))
    assert clean(own).readings == (good,)


def test_stream_clock_follows_messages_and_runs_on_while_idle() -> None:
    wall = [1000]
    clock = StreamClock(lambda: wall[0])
    wall[0] += 500
    assert clock.now() == 0  # nothing seen: no time has passed
    clock.saw(50)
    assert clock.now() == 50
    wall[0] += 30
    assert clock.now() == 80
    clock.saw(60)  # older than what the clock shows
    assert clock.now() == 80
    clock.saw(200)
    assert clock.now() == 200
    wall[0] -= 1000  # the wall clock was set back
    assert clock.now() == 200


def test_id_is_a_ulid_of_time_and_hash_and_always_the_same() -> None:
    one = id_of("c", key_of("node/n1", "host"), 1, 1_764_500_000_123_999_999)
    assert one == id_of("c", key_of("node/n1", "host"), 1, 1_764_500_000_123_000_000)
    assert len(one) == 26
    others = {
        id_of("d", key_of("node/n1", "host"), 1, 1_764_500_000_123_000_000),
        id_of("c", key_of("node/n1", "gpu"), 1, 1_764_500_000_123_000_000),
        id_of("c", key_of("node/n1", "host"), 2, 1_764_500_000_123_000_000),
    }
    assert one not in others
    assert len(others) == 3
    assert {own[:10] for own in others} == {one[:10]}  # 48 bits of time lead
    assert id_of("c", "k", 1, 1_764_500_001_000_000_000) > one


@pytest.mark.parametrize(
    ("what", "entity", "in_job", "kind"),
    [
        (samples.HOT, gpu(1, 1), "4711", "hardware"),
        (samples.NAN, job(), "4711", "numeric"),
        (samples.STEP_UP, job(), "4711", "slow"),
        ({"signal": "rank_compute_seconds", "movement": "outlier", "family": "peers"},
         job() + "/rank/3", "4711", "slow"),
        ({"signal": "job_hang_detected", "movement": "nonzero", "family": "event"},
         job(), "4711", "stopped"),
        ({"signal": "gpu_power_watts", "movement": "down", "family": "band"},
         gpu(1, 1), "4711", "slow"),
        ({"signal": "gpu_power_watts", "movement": "down", "family": "band"},
         gpu(1, 1), "", "hardware"),
        ({"signal": "gpu_power_watts", "movement": "up", "family": "band"},
         gpu(1, 1), "4711", "hardware"),
    ],
)  # fmt: skip
def test_finding_is_about_hardware_or_about_a_job(
    what: dict[str, str], entity: str, in_job: str, kind: str
) -> None:
    assert kind_of(finding(what, entity, 0), in_job) == kind


def test_tables_of_kinds_name_signals_of_the_catalogue() -> None:
    assert set(CATALOGUE) >= (kinds.NUMERIC | kinds.STOPPED | kinds.LOAD)
