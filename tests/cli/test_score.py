"""What belongs to an injected fault: by time, to within a node's own clock, and by place."""

import pytest

from forewarn.cli.score import score
from forewarn.incident import Incident
from forewarn.language import Text
from forewarn.records import NANOSECONDS
from simulator.truth import Truth
from tests.detector.samples import finding

ONSET = 1_767_600_000 * NANOSECONDS
PORT = "node/n63/nic/mlx5_0/port/1"
DOWN = {
    "signal": "nic.link_state", "movement": "event", "family": "event",
    "value_class": "code", "code": "nic.link_state:down",
}  # fmt: skip


def fault(entity: str) -> Truth:
    return Truth(
        mode="down", entity=entity, onset_unix_nano=ONSET, end_unix_nano=None, d_prime=300.0,
        expected=("NET-06",), form="sudden", severity=1.0,
    )  # fmt: skip


def incident(entity: str, *affected: str, seconds: float = 0.0) -> Incident:
    began = ONSET + round(seconds * NANOSECONDS)
    return Incident(
        id="1", key="k", generation=1, seq=1, cluster="c", state="open", severity="major",
        title=Text("", ""), entity=entity, affected=affected, jobs=(),
        first_evidence_at_unix_nano=began, detected_at_unix_nano=began, updated_at_unix_nano=began,
        evidence=(finding(DOWN, PORT, 0),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "is_found"), [(-600.0, False), (-1.1, False), (-0.9, True), (30.0, True)]
)
def test_first_evidence_may_be_as_early_as_a_clock_is_behind(
    seconds: float, is_found: bool
) -> None:
    result = score([fault(PORT)], [incident(PORT, seconds=seconds)])
    assert bool(result.rows[0].incident) is is_found
    assert bool(result.others) is not is_found


@pytest.mark.parametrize(
    ("own", "is_found"),
    [
        (incident("switch/leaf16", PORT), True),
        (incident("switch/leaf16"), False),
        (incident("node/n63"), True),
        (incident("node/n62/nic/mlx5_0/port/1"), False),
    ],
)
def test_incident_is_at_the_fault_above_it_or_affects_it(own: Incident, is_found: bool) -> None:
    assert bool(score([fault(PORT)], [own]).rows[0].incident) is is_found
