import os
import signal
import sys
import time

import pytest

from exporters.children import Answer, Children

HANG = (sys.executable, "-c", "import time; time.sleep(600)")


def test_answers_come_with_status_output_and_time() -> None:
    found = Children(30.0).run({"a": ("sh", "-c", "echo one; exit 3"), "b": ("true",)})
    assert (found["a"].code, found["a"].output) == (3, b"one\n")
    assert (found["b"].code, found["b"].output) == (0, b"")
    assert 0 < found["b"].seconds < 30


def test_one_that_hangs_is_killed_and_costs_only_itself() -> None:
    own = Children(0.5)
    began = time.monotonic()
    found = own.run({"hung": HANG, "hung too": HANG, "fine": ("echo", "here")})
    assert time.monotonic() - began < 10  # one deadline in all, not one each
    assert found["hung"] == found["hung too"] == Answer(None)
    assert found["fine"].output == b"here\n"
    assert own.killed == 2


def test_one_that_survives_the_kill_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process does that waits in the kernel for a server that is gone."""
    own = Children(0.3)
    with monkeypatch.context() as patch:
        patch.setattr("subprocess.Popen.kill", lambda process: pids.append(process.pid))
        pids: list[int] = []
        for _ in range(2):
            assert own.run({"stuck": HANG}) == {"stuck": Answer(None)}
        assert len(pids) == 1
    os.kill(pids[0], signal.SIGKILL)
    os.waitid(os.P_PID, pids[0], os.WEXITED | os.WNOWAIT)
    assert own.run({"stuck": ("true",)})["stuck"].code == 0


def test_more_output_than_a_pipe_holds_is_read() -> None:
    command = (sys.executable, "-c", "print('x' * 300_000)")
    assert len(Children(30.0).run({"a": command})["a"].output) == 300_001


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Children(1.0).run({"fine": ("true",), "a": ("/no/such/program",)})
