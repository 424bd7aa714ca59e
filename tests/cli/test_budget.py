"""`forewarn budget` as people and machines see it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from forewarn.balance import Balance, Other
from forewarn.cli.budget import WORDS, rows, tables
from forewarn.cli.main import cli
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu

FOUND = Balance(
    budget=1.0, until_unix_nano=0, days=30.0, promised=30.0, promised_low=20, promised_high=41,
    opened=24, confirmed=2, refuted=7, unreviewed=15, held_back=310, by_rules=4,
    others=(Other(0.25, 9), Other(4.0, 118)),
)  # fmt: skip


@pytest.mark.parametrize(("language", "title"), [("en", "False incidents"), ("zh", "误报")])
def test_tables_show_promise_and_outcome(language, title):
    console = Console(width=100, record=True)
    for table in tables(FOUND, language):
        console.print(table)
    text = console.export_text()
    assert title in text
    for shown in ("30.0 (20 – 41)", "7 – 22", "310", "118", "0.25"):
        assert shown in text


def test_every_line_has_words_in_both_languages():
    assert all(all(WORDS[key]) for key, _ in rows(FOUND))


def test_json_is_read_from_the_file_while_decide_is_down(tmp_path: Path, monkeypatch):
    stage = Stage(tmp_path / "decide.sqlite", items=samples.inventory())
    stage.feed(finding(samples.HOT, gpu(1, 0), 0, learned=True, per_day=1e-4))
    stage.close()
    config = tmp_path / "f.toml"
    config.write_text(
        f'[decide]\ndatabase = "{tmp_path / "decide.sqlite"}"\nlisten = "127.0.0.1:1"\n'
        "[detect]\nbudget = 2.0\n"
    )
    monkeypatch.setattr("time.time_ns", lambda: samples.at(86_400))
    answer = CliRunner().invoke(cli, ["--config", str(config), "budget", "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout.splitlines()[-1])
    assert (found["budget"], found["opened"], found["promised"]) == (2.0, 1, 2.0)
