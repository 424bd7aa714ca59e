from exporters.admission import Admission
from exporters.collector import Host
from exporters.own import Health, OwnCost
from exporters.rounds import Rounds
from tests.exporters.fakes import Everything, Line, table


def test_the_agent_says_what_it_costs(captured: Host, line: Line) -> None:
    found = table(OwnCost(captured, line.spool, Admission()).read(Everything()))
    assert {entity for _, entity in found} == {"agent/main"}
    assert found["agent_up", "agent/main"] == 1
    assert float(found["agent_cpu_seconds_total", "agent/main"]) > 0
    assert float(found["agent_memory_bytes", "agent/main"]) > 100_000


def test_drops_of_buffer_and_limit_are_told_together(captured: Host, line: Line) -> None:
    admission = Admission()
    admission.dropped, line.spool.dropped_samples = 3, 4
    found = table(OwnCost(captured, line.spool, admission).read({"agent_samples_dropped_total"}))
    assert found == {("agent_samples_dropped_total", "agent/main"): 7.0}


def test_health_of_a_collector_is_not_told_before_it_has_read(captured: Host) -> None:
    rounds = Rounds([], 1.0)
    own = Health(captured, lambda: rounds.workers)
    rounds = Rounds([own], 1.0)
    assert set(table(own.read(Everything())).values()) == {"NOT_DUE"}
    rounds.begin(0)
    rounds.gather(30.0)
    found = table(own.read(Everything()))
    assert found["agent_collector_success", "agent/health"] == 1
    assert found["agent_collector_failures_total", "agent/health"] == 0
    rounds.close()
