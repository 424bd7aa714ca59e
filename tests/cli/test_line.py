from pathlib import Path

import pytest
from msgspec.structs import replace

import runbooks
import simulator
from forewarn.cli.line import Line
from forewarn.config import Detect, Settings


def test_balance_promises_for_as_long_as_the_stream_lasted(tmp_path: Path) -> None:
    own = simulator.load(simulator.built_in()["healthy"])
    own = replace(own, duration_seconds=7200, period_seconds=60, fleet=replace(own.fleet, nodes=2))
    own = replace(own, job=(), maintenance=())
    settings = Settings(cluster=own.cluster, detect=Detect(budget=12.0))
    line = Line(settings, tmp_path, runbooks.load())
    for instant in simulator.simulate(own, 1):
        line.publish(instant.time_unix_nano, instant.frames, inventory=instant.inventory)
    line.step()
    balance = line.balance()
    assert balance.days == pytest.approx(7140 / 86_400)
    assert balance.promised == pytest.approx(12.0 * 7140 / 86_400)
    assert balance.opened == balance.by_rules == 0
    line.close()
