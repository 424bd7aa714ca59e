"""`forewarn agent --once` on this very machine."""

import json

from click.testing import CliRunner

from forewarn.catalogue import CATALOGUE
from forewarn.cli.main import cli


def test_agent_once_prints_at_least_25_signals_one_object_a_line() -> None:
    result = CliRunner().invoke(cli, ["agent", "--once", "--json"])
    assert result.exit_code == 0, result.output
    samples = [json.loads(line) for line in result.output.splitlines() if line.startswith("{")]
    for sample in samples:
        assert {"time", "entity", "signal", "value", "unit", "outcome"} <= set(sample)
        assert sample["unit"] == CATALOGUE[sample["signal"]].unit
        assert (sample["value"] is not None) == (sample["outcome"] == "ok")
    read = {sample["signal"] for sample in samples if sample["outcome"] == "ok"}
    assert len(read) >= 25, sorted(read)
