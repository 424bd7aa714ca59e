import math
import threading
from array import array
from pathlib import Path

import pytest

from exporters.job.job_log import job_name
from exporters.job.job_logs import SILENT_SECONDS, SOURCE, VANISHED_SECONDS, JobLogs
from exporters.job.jobs import Jobs
from forewarn import wire
from forewarn.config import JobLog
from forewarn.errors import ForewarnError
from tests.exporters.fakes import Clock, Line, until
from tests.exporters.job.test_huggingface import BAR, DICT
from tests.exporters.job.test_megatron import line as megatron


class Bench:
    def __init__(self, out: Line, clock: Clock, folder: Path, *settings: JobLog) -> None:
        self.out, self.clock, self.folder = out, clock, folder
        self.jobs = Jobs("node/n7", out.outlet, clock.time_ns, clock.monotonic, SOURCE)
        own = settings or (JobLog(path=str(folder / "*/train.log*"), format="megatron"),)
        self.logs = JobLogs(
            own, self.jobs, out.outlet, out.registry, clock.time_ns, clock.monotonic
        )

    def write(self, path: str, *lines: str) -> Path:
        own = self.folder / path
        own.parent.mkdir(parents=True, exist_ok=True)
        with own.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
        return own

    def go(self, seconds: float = 1.0) -> None:
        self.clock.seconds += seconds
        self.logs.scan()
        for _ in range(3):
            self.logs.poll()

    def codes(self) -> list[tuple[str, str]]:
        return [(event.entity, event.code.partition(":")[2]) for event in self.out.events()]

    def series(self, signal: str, entity: str = "job/run1") -> list[float]:
        found = []
        for frame in self.out.frames("jobs"):
            pairs = wire.LayoutCache().get(frame.layout).pairs()
            values = dict(zip(pairs, array("d", frame.values), strict=True))
            found += [values[signal, entity]] if (signal, entity) in values else []
        return found


@pytest.fixture
def bench(line: Line, clock: Clock, tmp_path: Path) -> Bench:
    return Bench(line, clock, tmp_path)


def test_a_log_that_appears_is_read_from_its_beginning(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", "starting", megatron(1), megatron(2))
    bench.go()
    assert bench.codes() == [("job/run1", "running")]
    assert bench.series("job_completed_steps_total") == [1, 2]
    assert bench.series("job_loss") == pytest.approx([2.345678, 2.345678])
    (frame, _) = bench.out.frames("jobs")
    assert (frame.node, frame.source) == ("n7", "job_log:run1")
    assert bench.out.count("forewarn_job_log_lines_total", outcome="taken") == 2
    assert bench.out.count("forewarn_job_log_lines_total", outcome="passed_over") == 1


def test_a_log_that_was_there_is_read_from_its_end_and_its_job_was_running(bench: Bench) -> None:
    bench.write("run1/train.log", megatron(1))
    bench.go()
    bench.write("run1/train.log", megatron(2))
    bench.go()
    assert bench.codes() == []
    assert bench.series("job_completed_steps_total") == [2]


def test_where_the_ranks_run_is_not_claimed(bench: Bench) -> None:
    """A log on a shared file system says nothing of the nodes of its job."""
    bench.go()
    bench.write("run1/train.log", megatron(1))
    bench.go()
    bench.out.announcer.announce()
    assert {item.entity for item in bench.out.items()} == {"job/run1"}
    assert bench.series("rank_step_seconds", "job/run1/rank/0") == []


def test_nan_reaches_the_bus_as_nan(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", megatron(1), megatron(2, loss=""))
    bench.go()
    assert math.isnan(bench.series("job_loss")[1])
    assert bench.series("job_nan_steps_total") == [0, 1]


def test_skipped_iterations_are_counted_all(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", megatron(10, skipped=3), megatron(20, skipped=2))
    bench.go()
    assert bench.series("job_skipped_steps_total") == [3, 5]


def test_a_step_further_back_is_a_restart(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", megatron(10), megatron(11))
    bench.go()
    bench.write("run1/train.log", megatron(5))
    bench.go()
    assert [code for _, code in bench.codes()] == ["running", "restarted"]


def test_phases_and_end_become_events(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", megatron(1), "saving checkpoint at iteration 1 to /x")
    bench.go()
    bench.write("run1/train.log", "  successfully saved checkpoint from iteration 1 to /x")
    bench.go(20.0)
    bench.write(
        "run1/train.log", "Evaluating on 9 samples", megatron(2), "[after training is done]"
    )
    bench.go()
    assert [code for _, code in bench.codes()] == [
        "running", "checkpoint_begin", "checkpoint_end",
        "evaluation_begin", "evaluation_end", "completed",
    ]  # fmt: skip
    assert bench.series("job_checkpoint_seconds") == pytest.approx([20.0])


def test_several_jobs_are_kept_apart(bench: Bench) -> None:
    bench.go()
    for run in ("run1", "run2"):
        bench.write(f"{run}/train.log", megatron(7))
    bench.go()
    assert bench.series("job_completed_steps_total", "job/run2") == [7]
    assert bench.out.count("forewarn_job_logs_followed") == 2


def test_a_log_that_was_rotated_is_not_read_twice(bench: Bench) -> None:
    bench.go()
    path = bench.write("run1/train.log", megatron(1))
    bench.go()
    path.rename(path.with_name("train.log.1"))  # the pattern matches this name too
    bench.write("run1/train.log", megatron(2))
    for _ in range(3):
        bench.go()
    assert bench.series("job_completed_steps_total") == [1, 2]
    assert [code for _, code in bench.codes()] == ["running"]


def test_a_log_that_vanished_for_long_is_left(bench: Bench) -> None:
    bench.go()
    path = bench.write("run1/train.log", megatron(1))
    bench.go()
    path.unlink()
    bench.go(VANISHED_SECONDS / 2)
    assert bench.out.count("forewarn_job_logs_followed") == 1
    bench.go(VANISHED_SECONDS)
    assert bench.out.count("forewarn_job_logs_followed") == 0


def test_the_age_of_the_last_step_is_told_until_the_log_is_silent_for_good(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", megatron(1))
    bench.go()
    bench.clock.seconds += 100
    bench.jobs.tend()
    assert bench.series("job_last_step_age_seconds") == pytest.approx([100.0])
    bench.go(SILENT_SECONDS)
    bench.jobs.tend()
    assert len(bench.series("job_last_step_age_seconds")) == 1


def test_a_log_that_cannot_be_read_is_told_and_costs_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.go()
    bad = bench.write("run1/train.log", megatron(1))
    bench.write("run2/train.log", megatron(1))
    bench.logs.scan()
    follower = bench.logs._logs[bad].follower

    def stale() -> list[str]:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(follower, "read", stale)
    bench.go()
    assert bench.series("job_completed_steps_total", "job/run2") == [1]
    assert [r.message for r in caplog.records if "Stale" in r.message] == [
        f"job log {bad} cannot be followed: [Errno 116] Stale file handle"
    ]


def test_the_trainer_of_hugging_face_is_followed(line: Line, clock: Clock, tmp_path: Path) -> None:
    own = JobLog(path=str(tmp_path / "a/out.log"), format="huggingface", job="ft 1")
    bench = Bench(line, clock, tmp_path, own)
    bench.go()
    bench.write("a/out.log", BAR, DICT, "{'loss': nan, 'epoch': 0.1}")
    bench.go()
    entity = "job/ft%201"
    assert bench.series("job_step_seconds", entity) == [2.0, 2.0]
    assert bench.series("job_nan_steps_total", entity) == [0, 1]


def test_the_stream_follows_until_it_is_stopped(line: Line, tmp_path: Path) -> None:
    jobs = Jobs("node/n7", line.outlet, source=SOURCE)
    own = JobLog(path=str(tmp_path / "train.log"), format="megatron", job="run1")
    logs = JobLogs((own,), jobs, line.outlet, line.registry)
    stop = threading.Event()
    thread = threading.Thread(target=logs.run, args=(stop,))
    thread.start()
    until(lambda: logs._scanned)
    (tmp_path / "train.log").write_text(megatron(1) + "\n")
    until(lambda: line.frames("jobs"))
    stop.set()
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (JobLog(path="x", format="megatron"), "llama-7b"),
        (JobLog(path="x", format="megatron", job="mine"), "mine"),
        (JobLog(path="x", format="megatron", job_pattern=r"runs/(?P<job>[^/]+)/"), "4711"),
        (JobLog(path="x", format="megatron", job_pattern=r"none/(?P<job>\d+)"), "llama-7b"),
    ],
)
def test_the_jobs_name_is_given_or_in_the_path(settings: JobLog, wanted: str) -> None:
    assert job_name(settings, Path("/runs/4711/llama-7b/train.log")) == wanted


def test_a_bad_line_raises_nothing(bench: Bench) -> None:
    bench.go()
    bench.write("run1/train.log", "iteration 99999999999999999999/ 1 |", "{'loss': ", "\x00\xff")
    try:
        bench.go()
    except ForewarnError as error:  # pragma: no cover - the assertion below says it
        pytest.fail(str(error))


def test_error_line_is_an_event_of_the_rank_that_wrote_it_once_a_minute(bench: Bench) -> None:
    bench.go()
    oom = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    bench.write("run1/train.log", "CUDA out of memory", megatron(1), oom, oom, "OutOfMemoryError")
    bench.go()
    told = [("job/run1", "running"), ("job/run1/rank/3", "oom"), ("job/run1/rank/0", "oom")]
    assert bench.codes() == told  # what was printed before the first step has no job yet
    assert bench.out.count("forewarn_job_log_lines_total", outcome="taken") == 4
    bench.write("run1/train.log", oom)
    bench.go(61)
    assert bench.codes() == [*told, ("job/run1/rank/3", "oom")]
