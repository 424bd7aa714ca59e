"""Agent killed, device lost, sensor frozen, node rebooted: each is told as what it is."""

from collections.abc import Iterable

import numpy as np
import pytest

from forewarn.records import NANOSECONDS, Finding, InventoryItem, Outcome, Placement
from tests.detector.feed import T0, Bench, event

NODES, SLOTS = 6, 4
TEMPERATURE, POWER = "gpu_temperature_celsius", "gpu_power_watts"


def gpu(node: int, slot: int) -> str:
    return f"node/n{node}/gpu/0000:{slot:02x}:00.0"


class Cluster:
    """Six nodes of four GPUs under one job; what each does is said by the test."""

    def __init__(self, nodes: int = NODES) -> None:
        self.bench, self.random = Bench(), np.random.default_rng(5)
        self.nodes, self.second, self.found = nodes, 0, []
        self.boot = dict.fromkeys(range(nodes), "b1")
        self.heat = {gpu(n, s): 60.0 for n in range(nodes) for s in range(SLOTS)}
        for rank, entity in enumerate(self.heat):
            place = Placement("llm", rank, entity.split("/")[1], (entity,))
            own = InventoryItem("c", f"job/llm/rank/{rank}", T0 * NANOSECONDS, placement=place)
            self.bench.inventory(own)

    def run(
        self, seconds: int, *, dead: Iterable[int] = (), lost: str = "", missing: str = "",
        frozen: str = "", load: float = 500.0,
    ) -> list[Finding]:  # fmt: skip
        """Run: `dead` nodes send nothing, a lost GPU fails, a missing one is not in the frame."""
        found: list[Finding] = []
        for _ in range(seconds):
            self.second += 1
            for node in (n for n in range(self.nodes) if n not in set(dead)):
                found += self._frame(node, lost, missing, frozen, load)
        self.found += found
        return found

    def _frame(self, node: int, lost: str, missing: str, frozen: str, load: float) -> list[Finding]:
        values: dict[tuple[str, str], float] = {
            ("node_cpu_utilization_ratio", f"node/n{node}"): 0.2
        }
        outcome = [Outcome.OK]
        for slot in range(SLOTS):
            own = gpu(node, slot)
            if own == missing:
                continue
            watts = load + self.random.normal(0, 3)
            self.heat[own] += (30 + watts / 15 - self.heat[own]) / 40
            shown = round(self.heat[own]) if own != frozen else 60.0
            values[TEMPERATURE, own], values[POWER, own] = shown, watts
            outcome += [Outcome.FAILED if own == lost else Outcome.OK] * 2
        return self.bench.one(
            self.second, values, node=f"n{node}", boot=self.boot[node], outcome=bytes(outcome)
        )


def silence(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.family == "silence"]


def opened(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(f.entity, f.signal, f.movement) for f in silence(found) if f.seq == 1]


def at(nano: int) -> float:
    return nano / NANOSECONDS - T0


def test_killed_agent_is_absent_and_its_gpus_are_not_told_one_by_one():
    own = Cluster()
    own.run(60)
    found = own.run(60, dead=[2])
    assert opened(found) == [("node/n2/agent/main", "agent_up", "absent")]
    assert at(silence(found)[0].opened_at_unix_nano) == pytest.approx(60.1 + 15, abs=0.1)
    assert {f.closed_at_unix_nano for f in silence(found)} == {None}
    assert silence(found)[0].job == "llm"


def test_agent_that_comes_back_closes_its_finding():
    own = Cluster()
    own.run(60)
    own.run(60, dead=[2])
    (back,) = silence(own.run(3))
    assert back.closed_at_unix_nano is not None
    assert "its agent was away" in back.text


def test_rebooted_node_is_told_as_that_and_no_agent_stays_dead():
    own = Cluster()
    own.run(60)
    own.run(60, dead=[2])
    own.boot[2] = "b2"
    found = own.run(60)
    (back,) = silence(found)
    assert back.closed_at_unix_nano is not None
    assert "it booted anew" in back.text
    codes = [f.code for f in found if f.family == "event"]
    assert codes == ["node.boot_id:changed"]


def test_short_pause_of_an_agent_is_nothing():
    own = Cluster()
    own.run(60)
    assert silence(own.run(12, dead=[2]) + own.run(30)) == []


def test_planned_work_on_a_node_silences_it():
    own = Cluster()
    own.run(60)
    own.bench.event(event(60.5, "node/n2", "node.maintenance:planned", source="scheduler", seq=1))
    found = own.run(200, dead=[2])
    own.boot[2] = "b2"
    back = own.run(60)
    assert [f for f in found + back if f.family in {"silence", "event"}] == []
    assert opened(own.run(60, dead=[2])) == [("node/n2/agent/main", "agent_up", "absent")]


def test_half_of_all_nodes_silent_is_one_finding_of_the_line():
    own = Cluster()
    own.run(60)
    found = own.run(60, dead=[1, 2, 3, 4])
    assert opened(found) == [("cluster/c", "pipeline_lag_seconds", "absent")]
    back = silence(own.run(30))
    assert [f.closed_at_unix_nano is not None for f in back] == [True]


def test_node_that_stays_away_when_the_line_is_back_is_told():
    own = Cluster()
    own.run(60)
    own.run(60, dead=[1, 2, 3, 4])
    assert opened(own.run(30, dead=[3])) == [("node/n3/agent/main", "agent_up", "absent")]


def test_node_taken_out_of_the_inventory_is_not_waited_for():
    own = Cluster()
    own.run(60)
    item = InventoryItem("c", "node/n2", (T0 + 61) * NANOSECONDS, removed=True)
    own.bench.inventory(item)
    assert silence(own.run(60, dead=[2])) == []


def test_slow_sender_is_given_its_own_time():
    own = Cluster()
    values = {("rack_inlet_temperature_celsius", "rack/r1"): 22.0}
    for second in range(200):
        own.run(1)
        if second % 10 == 0:
            own.found += own.bench.one(own.second, values, node="plant", source="plant")
    assert silence(own.found) == []
    assert opened(own.run(40)) == []
    assert opened(own.run(30)) == [("node/plant/agent/main", "agent_up", "absent")]


def test_only_sender_is_told_by_the_clock_of_the_stage():
    own = Cluster(nodes=1)
    own.run(60)
    end = (T0 + 60) * NANOSECONDS
    found = [f for s in range(1, 40) for f in own.bench.engine.tick(end + s * NANOSECONDS)]
    assert opened(found) == [("node/n0/agent/main", "agent_up", "absent")]
    assert at(found[0].opened_at_unix_nano) == pytest.approx(75.1, abs=0.1)


def test_silence_that_only_the_next_message_shows_is_the_same_finding():
    live, later = Cluster(nodes=1), Cluster(nodes=1)
    live.run(60)
    later.run(60)
    end = (T0 + 60) * NANOSECONDS
    one = [f for s in range(1, 50) for f in live.bench.engine.tick(end + s * NANOSECONDS)]
    later.second = 110
    two = later.run(1)
    assert silence(one)[0].id == silence(two)[0].id


@pytest.mark.parametrize("how", ["lost", "missing"])
def test_lost_gpu_is_absent_while_its_node_goes_on(how):
    own = Cluster()
    own.run(60)
    found = own.run(60, **{how: gpu(3, 1)})
    assert opened(found) == [(gpu(3, 1), "gpu_last_reading_age_seconds", "absent")]
    (first,) = [f for f in silence(found) if f.seq == 1]
    assert 30 <= at(first.opened_at_unix_nano) - 60 < 37
    assert first.observed >= 30
    back = silence(own.run(20))
    assert [f.closed_at_unix_nano is not None for f in back] == [True]


def test_gpu_that_nobody_reads_any_more_is_not_missed():
    own = Cluster()
    own.run(60)
    own.bench.inventory(InventoryItem("c", gpu(3, 1), (T0 + 60) * NANOSECONDS))
    assert silence(own.run(60, missing=gpu(3, 1))) == []


def _swings(own: Cluster, times: int, frozen: str = "") -> list[Finding]:
    out: list[Finding] = []
    for _ in range(times):
        out += own.run(150, load=500.0, frozen=frozen) + own.run(150, load=150.0, frozen=frozen)
    return out


def test_frozen_temperature_is_stuck_while_its_load_moves():
    own = Cluster(nodes=2)
    assert silence(_swings(own, 3)) == []
    found = _swings(own, 3, frozen=gpu(1, 2))
    assert opened(found) == [(gpu(1, 2), TEMPERATURE, "stuck")]
    back = silence(_swings(own, 1))
    assert [f.closed_at_unix_nano is not None for f in back] == [True]


def test_steady_temperature_under_steady_load_is_not_stuck():
    own = Cluster(nodes=2)
    assert silence(_swings(own, 2) + own.run(1500, load=300.0)) == []
