import ast
import json
import logging
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forewarn import reporter
from forewarn.reporter import Reporter, default_socket
from tests.exporters.fakes import until

SOURCE = Path(reporter.__file__)


class Listener:
    """An agent's socket that keeps the lines it gets, by connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connections: list[list[dict[str, Any]]] = []
        self.ended = 0
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(16)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            lines: list[dict[str, Any]] = []
            self.connections.append(lines)
            self._open.append(sock)
            thread = threading.Thread(target=self._read, args=(sock, lines), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _read(self, sock: socket.socket, lines: list[dict[str, Any]]) -> None:
        with sock, sock.makefile("rb") as handle:
            for line in handle:
                lines += [json.loads(line)]  # seen by the test at once
        self.ended += 1

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for own in self.connections for line in own if line["kind"] == kind]

    def close(self) -> None:
        """Go away as an agent does: the file too, and every connection."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._open:
            if sock.fileno() >= 0:
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        self.path.unlink()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reporter.sock"


@pytest.fixture
def agent(path: Path) -> Iterator[Listener]:
    own = Listener(path)
    yield own
    own.close()


def test_it_is_one_file_of_the_standard_library_for_python_3_8() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or "."] if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }  # fmt: skip
    assert imported <= sys.stdlib_module_names


def test_it_runs_alone(agent: Listener, path: Path) -> None:
    script = (
        f"import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('alone', {str(SOURCE)!r})\n"
        f"alone = importlib.util.module_from_spec(spec)\n"
        f"spec.loader.exec_module(alone)\n"
        f"with alone.Reporter('j', socket={str(path)!r}) as report:\n"
        f"    report.step(0, loss=1.0)\n"
    )
    subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", script], check=True, timeout=60
    )
    until(lambda: agent.lines("close"))
    assert agent.lines("close")[0]["state"] == "completed"


def test_a_job_tells_who_it_is_and_how_it_goes(agent: Listener, path: Path) -> None:
    with Reporter(
        4711, rank=0, world_size=8, devices=["0000:1a:00.0"], stage=1, socket=str(path),
        parameters=7e9,
    ) as own:  # fmt: skip
        own.step(5, loss=0.5, gradient_norm=float("inf"), tokens=100)
        own.step(loss=float("nan"), skipped=True)
        with own.checkpoint():
            pass
        with own.evaluation():
            pass
        own.event("nccl.error:watchdog_timeout", "it hangs", "major")
    until(lambda: agent.lines("close"))
    (lines,) = agent.connections
    hello, first, second = lines[:3]
    assert (hello["job"], hello["rank"], hello["world_size"], hello["stage"]) == ("4711", 0, 8, 1)
    assert hello["parameters"] == 7_000_000_000
    assert (hello["devices"], hello["leader"], hello["resumed"]) == (["0000:1a:00.0"], True, False)
    assert (first["step"], first["loss"], first["gradient_norm"]) == (5, 0.5, "inf")
    assert "step_seconds" not in first
    assert (second["step"], second["loss"], second["skipped"]) == (6, "nan", True)
    assert second["step_seconds"] >= 0
    assert [(line["kind"], line.get("what"), line.get("edge")) for line in lines[3:7]] == [
        ("span", "checkpoint", "begin"), ("span", "checkpoint", "end"),
        ("span", "evaluation", "begin"), ("span", "evaluation", "end"),
    ]  # fmt: skip
    assert (lines[7]["code"], lines[7]["severity"]) == ("nccl.error:watchdog_timeout", "major")
    assert lines[8]["state"] == "completed"


def test_rank_and_size_come_from_the_launcher(
    agent: Listener, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "16")
    with Reporter("j", socket=str(path)) as own:
        own.step(0)
    until(lambda: agent.lines("close"))
    hello = agent.connections[0][0]
    assert (hello["rank"], hello["world_size"], hello["leader"]) == (3, 16, False)


def test_nothing_raises_and_the_first_fault_is_told(
    agent: Listener, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = Reporter("j", rank=0, socket=str(path))
    own.step("first", loss=1.0)  # type: ignore[arg-type]
    own.step(1, loss="high", tokens=object())  # type: ignore[arg-type]
    own.step(2, loss=1.0, learning_rate=3e-4)
    own.close()
    until(lambda: agent.lines("close"))
    assert own.faults == 4
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "step: ValueError: invalid literal" in caplog.text
    assert [line["step"] for line in agent.lines("step")] == [1, 2]
    assert agent.lines("step")[1]["loss"] == 1.0


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("completed", "completed"), ("finished", "completed"), ("Done ", "completed"),
        ("error", "failed"), ("failed", "failed"), ("aborted", "cancelled"),
        ("canceled", "cancelled"), ("evicted", "preempted"), ("preempted", "preempted"),
    ],
)  # fmt: skip
def test_words_for_an_end_are_understood(agent: Listener, path: Path, said: str, told: str) -> None:
    own = Reporter("j", rank=0, socket=str(path))
    own.close(state=said)
    until(lambda: agent.lines("close"))
    assert agent.lines("close")[0]["state"] == told
    assert own.faults == 0


def test_unknown_word_for_an_end_is_a_fault_and_counts_as_no_word(
    agent: Listener, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fine, broken = (Reporter("j", rank=rank, socket=str(path)) for rank in range(2))
    fine.close(state="sideways")
    try:
        math.sqrt(-1)
    except ValueError:
        broken.close(state="sideways")
    until(lambda: len(agent.lines("close")) == 2)
    assert [line["state"] for line in agent.lines("close")] == ["completed", "failed"]
    assert (fine.faults, broken.faults) == (1, 1)
    assert "one of completed, failed, cancelled, preempted" in caplog.text


def test_a_constructor_with_nonsense_reports_nothing_and_raises_nothing() -> None:
    own = Reporter("j", rank="first")  # type: ignore[arg-type]
    own.step(1, loss=1.0)
    own.close()
    assert own.faults == 1


@pytest.mark.parametrize("where", [7, [], object()])
def test_a_socket_that_is_no_path_raises_nothing(where: Any) -> None:
    own = Reporter("j", socket=where)
    own.step(1, loss=1.0)
    own.close()
    assert own.faults == 1


def test_a_path_object_is_a_socket_too(agent: Listener, path: Path) -> None:
    with Reporter("j", socket=path) as own:
        own.step(1, loss=1.0)
    until(lambda: agent.lines("close"))
    assert own.faults == 0


def test_a_value_that_raises_costs_only_itself(agent: Listener, path: Path) -> None:
    class Tensor:
        def __float__(self) -> float:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")

    with Reporter("j", socket=str(path)) as own:
        own.step(1, loss=Tensor(), step_seconds=0.5, tokens=10**400)  # type: ignore[arg-type]
    until(lambda: agent.lines("close"))
    (step,) = agent.lines("step")
    assert (step["loss"], step["step_seconds"], step["tokens"]) == (None, 0.5, None)
    assert own.faults == 2


def test_words_are_cut_so_that_the_queue_stays_small(agent: Listener, path: Path) -> None:
    with Reporter("j", socket=str(path)) as own:
        own.event("nccl.error:" + "x" * 10**6, "y" * 10**6)
    until(lambda: agent.lines("close"))
    (event,) = agent.lines("event")
    assert (len(event["code"]), len(event["text"])) == (256, 2000)


def test_an_error_of_the_training_loop_passes_and_the_job_has_failed(
    agent: Listener, path: Path
) -> None:
    own = Reporter("j", socket=str(path))
    with pytest.raises(ZeroDivisionError), own:
        own.step(1 // 0)
    until(lambda: agent.lines("close"))
    assert agent.lines("close")[0]["state"] == "failed"


def test_lines_wait_for_an_agent_that_is_away_and_keep_their_order(path: Path) -> None:
    own = Reporter("j", socket=str(path))
    for number in range(100):
        own.step(number)
    agent = Listener(path)
    own.close(timeout_seconds=60.0)
    until(lambda: agent.lines("close"))
    assert [line["step"] for line in agent.lines("step")] == list(range(100))
    agent.close()


def test_a_full_queue_drops_the_oldest_and_tells_how_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporter, "CAPACITY", 10)
    own = Reporter("j", socket=str(path))
    for number in range(25):
        own.step(number)
    assert own.dropped == 15
    agent = Listener(path)
    until(lambda: agent.lines("step"))
    assert agent.lines("dropped")[0]["total"] == 15
    assert agent.lines("step")[0]["step"] == 15
    own.close()
    agent.close()


def test_an_agent_that_restarts_hears_the_same_reporter_again(path: Path) -> None:
    first = Listener(path)
    own = Reporter("j", socket=str(path))
    own.step(0)
    until(lambda: first.lines("step"))
    first.close()
    own.step(1)
    own.step(2)
    second = Listener(path)
    own.close(timeout_seconds=60.0)
    until(lambda: second.lines("close"))
    assert second.connections[0][0]["resumed"] is True
    assert [line["step"] for line in second.lines("step")] == [1, 2]
    second.close()


FORK = """
import os, sys, time
from forewarn.reporter import Reporter
own = Reporter("j", rank=0, socket=sys.argv[1])
own.step(0)
while own._lines:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    if sys.argv[2] == "report":
        own.step(100)
    else:
        time.sleep(60)
    sys.exit(0)
if sys.argv[2] == "report":
    assert os.waitpid(child, 0)[1] == 0
    own.step(1)
    own.close()
else:
    print(child, flush=True)
    os._exit(9)
"""


def test_a_forked_child_reports_on_a_connection_of_its_own(agent: Listener, path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORK, str(path), "report"], check=True, timeout=60)
    until(lambda: len(agent.lines("close")) == 2)
    parent, child = agent.connections
    assert [line["step"] for line in parent if line["kind"] == "step"] == [0, 1]
    assert [line["step"] for line in child if line["kind"] == "step"] == [100]
    assert parent[0]["pid"] != child[0]["pid"]


def test_a_child_that_lives_on_does_not_hide_the_death_of_its_parent(
    agent: Listener, path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORK, str(path), "idle"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.wait(60)
        until(lambda: agent.ended == 1)
        os.kill(child, 9)


@pytest.mark.parametrize(
    ("end", "state"),
    [("", "completed"), ("1 // 0", "failed"), ("raise KeyboardInterrupt", "cancelled")],
)
def test_a_process_that_forgets_to_close_is_closed_at_exit(
    agent: Listener, path: Path, end: str, state: str
) -> None:
    script = (
        f"from forewarn.reporter import Reporter\n"
        f"own = Reporter('j', socket={str(path)!r})\nown.step(0)\n{end}\n"
    )
    subprocess.run(
        [sys.executable, "-c", script], check=False, timeout=60, stderr=subprocess.DEVNULL
    )
    until(lambda: agent.lines("close"))
    assert agent.lines("close")[0]["state"] == state


def test_the_default_socket_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reporter, "SHARED_SOCKET", str(tmp_path / "shared"))
    monkeypatch.delenv("FOREWARN_SOCKET", raising=False)
    monkeypatch.setenv("FOREWARN_STATE", "/state")
    assert default_socket() == "/state/reporter.sock"
    (tmp_path / "shared").touch()
    assert default_socket() == str(tmp_path / "shared")
    monkeypatch.setenv("FOREWARN_SOCKET", "/own")
    assert default_socket() == "/own"
