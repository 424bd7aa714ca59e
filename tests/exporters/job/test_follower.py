import os
from pathlib import Path

import pytest

from exporters.job.follower import Follower, identity


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text("old\n")
    return path


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def drain(own: Follower) -> list[str]:
    """Read until nothing comes twice: a turn over to another file takes a round of its own."""
    found: list[str] = []
    for _ in range(4):
        found += own.read()
    return found


def test_a_file_is_read_from_its_beginning_or_its_end(log: Path) -> None:
    first, last = Follower(log, at_end=False), Follower(log, at_end=True)
    add(log, "new\n")
    assert drain(first) == ["old", "new"]
    assert drain(last) == ["new"]
    assert drain(last) == []


def test_a_line_is_given_once_it_is_complete(log: Path) -> None:
    own = Follower(log, at_end=True)
    add(log, "half")
    assert drain(own) == []
    add(log, " line\n")
    assert drain(own) == ["half line"]


def test_a_line_that_began_before_us_is_left_out(log: Path) -> None:
    add(log, "began ")
    own = Follower(log, at_end=True)
    add(log, "early\nwhole\n")
    assert drain(own) == ["whole"]


def test_progress_bars_are_lines(log: Path) -> None:
    own = Follower(log, at_end=True)
    add(log, "1%\r2%\rdone\n")
    assert drain(own) == ["1%", "2%", "done"]


def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(log: Path) -> None:
    own = Follower(log, at_end=True)
    add(log, "last\nno newline")
    log.rename(log.with_suffix(".log.1"))
    assert drain(own) == ["last"]
    log.write_text("first\n")
    assert drain(own) == ["no newline", "first"]
    add(log, "second\n")
    assert drain(own) == ["second"]


def test_a_truncated_file_is_read_from_its_beginning(log: Path) -> None:
    own = Follower(log, at_end=True)
    os.truncate(log, 0)
    assert drain(own) == []
    add(log, "a\n")
    assert drain(own) == ["a"]


def test_a_file_replaced_by_another_of_the_same_size_is_noticed(log: Path) -> None:
    own = Follower(log, at_end=True)
    other = log.with_name("other")
    other.write_text("new\n")
    other.rename(log)
    assert drain(own) == ["new"]


def test_a_line_beyond_the_limit_is_counted_and_passed_over(log: Path) -> None:
    own = Follower(log, at_end=True)
    add(log, "x" * 3_000_000 + "\nfine\n")
    assert drain(own) == ["fine"]
    assert own.too_long == 1


def test_a_big_file_is_begun_at_its_end_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    path.touch()
    os.truncate(path, 8 << 30)  # a hole: 8 GiB that take no room
    own = Follower(path, at_end=True)
    add(path, "\nnew\n")
    assert drain(own) == ["new"]


def test_after_an_error_reading_goes_on_where_it_ended(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Follower(log, at_end=False)
    assert drain(own) == ["old"]
    add(log, "more\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", refuse)
        with pytest.raises(OSError, match="Stale"):
            own.read()
    assert drain(own) == ["more"]


def refuse(*_: object) -> bytes:
    raise OSError(116, "Stale file handle")


def test_only_regular_files_have_an_identity(log: Path) -> None:
    found = identity(log)
    assert found is not None
    assert found[1] == 4
    assert identity(log.parent) is None
    assert identity(log.with_name("none")) is None
