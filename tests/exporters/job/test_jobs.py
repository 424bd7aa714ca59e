import math
from array import array

import msgspec
import pytest

from exporters.job.jobs import Jobs
from exporters.job.lines import Close, Hello, LineError, Note, Span, Step
from forewarn import wire
from forewarn.errors import ForewarnError
from forewarn.records import Placement
from tests.exporters.fakes import Clock, Line

SECOND = 1_000_000_000


class Bench:
    def __init__(self, line: Line, clock: Clock) -> None:
        self.line, self.clock = line, clock
        self.jobs = Jobs("node/n7", line.outlet, clock.time_ns, clock.monotonic)

    def hello(self, rank: int = 0, **fields: object) -> Hello:
        base = Hello(
            job="4711", rank=rank, world_size=2, pid=10 + rank,
            started_unix_nano=self.clock.time_ns(), leader=rank == 0, stage=rank,
        )  # fmt: skip
        own = msgspec.structs.replace(base, **fields)
        self.jobs.hello(own)
        return own

    def step(self, hello: Hello, number: int = 1, **fields: object) -> None:
        fields.setdefault("time_unix_nano", self.clock.time_ns())
        self.jobs.step(hello, Step(step=number, **fields))  # type: ignore[arg-type]

    def close(self, hello: Hello, state: str = "completed") -> None:
        self.jobs.close(hello, Close(state, self.clock.time_ns()))  # type: ignore[arg-type]

    def codes(self) -> list[str]:
        return [event.code for event in self.line.events()]

    def values(self, index: int = -1) -> dict[tuple[str, str], float]:
        frame = self.line.frames("jobs")[index]
        pairs = wire.LayoutCache().get(frame.layout).pairs()
        return dict(zip(pairs, array("d", frame.values), strict=True))


@pytest.fixture
def bench(line: Line, clock: Clock) -> Bench:
    return Bench(line, clock)


def test_a_step_of_the_leader_is_one_frame_of_job_and_rank(bench: Bench) -> None:
    hello = bench.hello()
    at = bench.clock.time_ns() - SECOND
    bench.step(
        hello, 7, time_unix_nano=at, loss="nan", tokens=1000.0, step_seconds=2.0,
        compute_seconds=1.5, data_seconds=0.1, communication_seconds=0.4, mfu=0.4,
    )  # fmt: skip
    (frame,) = bench.line.frames("jobs")
    assert (frame.node, frame.source, frame.seq) == ("n7", "reporter:4711", 1)
    assert frame.time_unix_nano == at
    values = bench.values()
    assert math.isnan(values.pop(("job_loss", "job/4711")))
    rank = "job/4711/rank/0"
    assert values == {
        ("rank_step_seconds", rank): 2.0,
        ("rank_compute_seconds", rank): 1.5,
        ("rank_data_wait_seconds", rank): 0.1,
        ("rank_communication_seconds", rank): 0.4,
        ("job_step_seconds", "job/4711"): 2.0,
        ("job_tokens_per_step", "job/4711"): 1000.0,
        ("job_communication_seconds", "job/4711"): 0.4,
        ("job_mfu_ratio", "job/4711"): 0.4,
        ("job_tokens_per_second", "job/4711"): 500.0,
        ("job_completed_steps_total", "job/4711"): 7.0,
        ("job_nan_steps_total", "job/4711"): 1.0,
        ("job_skipped_steps_total", "job/4711"): 0.0,
    }


def test_another_rank_speaks_for_itself_only(bench: Bench) -> None:
    bench.step(bench.hello(rank=1), loss=1.0, step_seconds=2.0)
    assert bench.values() == {("rank_step_seconds", "job/4711/rank/1"): 2.0}


def test_a_step_time_that_is_nan_has_failed(bench: Bench) -> None:
    bench.step(bench.hello(rank=1), step_seconds="nan")
    assert bench.line.frames("jobs")[0].outcome == b"\x03"


@pytest.mark.parametrize(
    ("seconds", "kept"), [(-3500, True), (0.5, True), (2, False), (-3601, False)]
)
def test_a_time_out_of_reason_is_replaced_by_arrival(
    bench: Bench, seconds: float, kept: bool
) -> None:
    now = bench.clock.time_ns()
    at = now + int(seconds * SECOND)
    bench.step(bench.hello(), time_unix_nano=at, loss=1.0)
    assert bench.line.frames("jobs")[0].time_unix_nano == (at if kept else now)


def test_placement_goes_to_the_inventory(bench: Bench) -> None:
    hello = bench.hello(devices=("0000:1a:00", "gpu/0000:1b:00.0", "node/n7/gpu/x"), tensor=3)
    bench.line.announcer.announce()
    (item,) = bench.line.items()
    assert item.entity == "job/4711/rank/0"
    assert item.placement == Placement(
        job="4711", rank=0, node="n7",
        devices=("node/n7/gpu/0000:1a:00.0", "node/n7/gpu/0000:1b:00.0", "node/n7/gpu/x"),
        stage=0, tensor=3, since_unix_nano=hello.started_unix_nano,
    )  # fmt: skip


def test_a_rank_that_names_no_device_gets_those_its_process_is_seen_to_use(bench: Bench) -> None:
    gpu, other = "node/n7/gpu/0000:1a:00.0", "node/n7/gpu/0000:1b:00.0"
    bench.hello(), bench.hello(rank=1, devices=("0000:1c:00.0",))
    bench.line.announcer.use(gpu, {gpu: {10, 11}})
    bench.line.announcer.use(other, {other: {99}})
    bench.jobs.tend()
    bench.line.announcer.announce()
    places = {i.entity: i.placement.devices for i in bench.line.items() if i.placement}
    assert places["job/4711/rank/0"] == (gpu,)
    assert places["job/4711/rank/1"] == ("node/n7/gpu/0000:1c:00.0",)


def test_the_life_of_a_job_is_told_by_its_leader(bench: Bench) -> None:
    leader, other = bench.hello(), bench.hello(rank=1)
    for what in ("checkpoint", "evaluation"):
        for edge in ("begin", "end"):
            span = Span(what, edge, bench.clock.time_ns(), 2.5)  # type: ignore[arg-type]
            bench.jobs.span(leader, span)
            bench.jobs.span(other, span)
    bench.close(other)
    bench.close(leader)
    assert bench.codes() == [
        "job.state:running",
        "job.state:checkpoint_begin", "job.state:checkpoint_end",
        "job.state:evaluation_begin", "job.state:evaluation_end",
        "job.state:completed",
    ]  # fmt: skip
    assert bench.values() == {("job_checkpoint_seconds", "job/4711"): 2.5}


def test_coming_back_to_a_restarted_agent_is_no_new_run(bench: Bench) -> None:
    bench.hello(resumed=True)
    assert bench.codes() == []


def test_a_rank_that_dies_fails_the_job_once(bench: Bench) -> None:
    leader, other = bench.hello(), bench.hello(rank=1)
    bench.jobs.gone(other)
    bench.jobs.gone(leader)
    bench.clock.seconds += 4
    bench.jobs.tend()
    assert bench.codes() == ["job.state:running"]
    bench.clock.seconds += 2
    bench.jobs.tend()
    bench.jobs.tend()
    assert bench.codes() == ["job.state:running", "job.state:failed"]
    assert bench.line.events()[1].text in {
        "rank 0 (pid 10) went away without a word", "rank 1 (pid 11) went away without a word",
    }  # fmt: skip


def test_a_rank_that_comes_back_in_time_has_not_failed(bench: Bench) -> None:
    leader = bench.hello()
    bench.jobs.gone(leader)
    bench.clock.seconds += 3
    bench.jobs.hello(msgspec.structs.replace(leader, resumed=True))
    bench.clock.seconds += 60
    bench.jobs.tend()
    assert bench.codes() == ["job.state:running"]


def test_a_new_process_after_a_death_is_a_restart(bench: Bench) -> None:
    bench.jobs.gone(bench.hello())
    bench.clock.seconds += 6
    bench.jobs.tend()
    bench.hello()
    assert bench.codes() == ["job.state:running", "job.state:failed", "job.state:restarted"]


def test_a_second_run_after_completion_is_a_run(bench: Bench) -> None:
    bench.close(bench.hello())
    bench.clock.seconds += 1
    bench.hello()
    assert bench.codes() == ["job.state:running", "job.state:completed", "job.state:running"]


def test_age_of_the_last_step_is_told_while_the_job_lives(bench: Bench) -> None:
    hello = bench.hello()
    bench.jobs.tend()
    assert bench.line.frames("jobs") == []
    bench.step(hello, loss=1.0)
    bench.clock.seconds += 40
    bench.jobs.tend()
    assert bench.values() == {("job_last_step_age_seconds", "job/4711"): 40.0}
    bench.close(hello)
    bench.jobs.tend()
    assert len(bench.line.frames("jobs")) == 2


def test_ranks_of_an_ended_job_stay_for_a_while_and_are_removed_then(bench: Bench) -> None:
    hello = bench.hello()
    bench.step(hello, loss=1.0)
    bench.line.announcer.announce()
    bench.close(hello)
    bench.clock.seconds += 599
    bench.jobs.tend()
    assert not any(item.removed for item in bench.line.items())
    bench.clock.seconds += 2
    bench.jobs.tend()
    removed = {item.entity for item in bench.line.items() if item.removed}
    assert removed == {"job/4711", "job/4711/rank/0"}


def test_an_event_of_a_rank_is_told_at_the_rank(bench: Bench) -> None:
    hello = bench.hello(rank=1)
    note = Note("nccl.error:Watchdog_Timeout", bench.clock.time_ns(), "major", "token=abc")
    bench.jobs.note(hello, note)
    (event,) = bench.line.events()
    assert (event.entity, event.code) == ("job/4711/rank/1", "nccl.error:watchdog_timeout")
    assert (event.severity, event.text) == ("major", "token=***")
    with pytest.raises(ForewarnError, match="expected namespace:code"):
        bench.jobs.note(hello, Note("nonsense", bench.clock.time_ns()))


def test_the_number_of_ranks_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporters.job.jobs.MAX_RANKS", 2)
    bench.hello()
    bench.hello(rank=1)
    with pytest.raises(LineError, match="more than 2 ranks"):
        bench.hello(rank=2)


def test_a_rank_comes_back_where_no_further_one_would_be_taken(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.job.jobs.MAX_RANKS", 1)
    known = bench.hello()
    with pytest.raises(LineError, match="more than 1 ranks"):
        bench.hello(rank=1)
    bench.jobs.hello(msgspec.structs.replace(known, resumed=True))


def test_a_word_after_a_job_is_forgotten_is_an_error_of_that_line(bench: Bench) -> None:
    hello = bench.hello()
    bench.close(hello)
    bench.clock.seconds += 3600
    bench.jobs.tend()
    with pytest.raises(LineError, match="'4711' has ended"):
        bench.step(hello)
    bench.jobs.gone(hello)
