"""Stages as threads of a process: how they end, and what the process says of it."""

import threading

import pytest

from forewarn.cli import process
from forewarn.errors import ConfigError, ForewarnError


def _refuse(error: ForewarnError) -> None:
    raise error


def test_a_stage_that_dies_stops_the_others_and_its_error_is_the_exit_code(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stop = threading.Event()
    jobs = {"decide": lambda: _refuse(ConfigError("port in use")), "detect": stop.wait}
    assert process.run_all(jobs, stop) == ConfigError.exit_code
    assert [record.getMessage() for record in caplog.records] == ["decide: port in use"]


def test_no_stage_is_begun_after_the_word_to_stop() -> None:
    stop, begun = threading.Event(), threading.Event()
    stop.set()
    assert process.run_all({"agent": begun.set}, stop) == 0
    assert not begun.is_set()


def test_stages_that_hang_share_one_time_and_are_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process, "STOP_SECONDS", 0.05)
    stop, released = threading.Event(), threading.Event()

    def hang() -> None:
        stop.set()
        released.wait()

    assert process.run_all({"detect": hang, "decide": hang}, stop) == 0
    released.set()
    told = [record.getMessage() for record in caplog.records]
    assert [text.split()[0] for text in told] == ["detect", "decide"]
