import logging
from pathlib import Path

import pytest

from exporters.host.kernel_cursor import Cursor, Position


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    own = Cursor(tmp_path / "new/cursor.json")
    assert own.load() is None
    own.save(Position("b1", 7))
    assert Cursor(tmp_path / "new/cursor.json").load() == Position("b1", 7)


def test_a_broken_file_is_told_and_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cursor.json").write_text('{"boot_id": 3')
    assert Cursor(tmp_path / "cursor.json").load() is None
    assert "is not readable, starting anew" in caplog.text


def test_a_folder_that_refuses_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    own = Cursor(tmp_path / "file/cursor.json")
    with caplog.at_level(logging.WARNING):
        own.save(Position("b1", 1))
        own.save(Position("b1", 2))
    assert len(caplog.records) == 1
