import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from detector.incidents.actions import ActionError, acknowledge, resolve
from detector.incidents.lifecycle import NEXT, QUIET_SECONDS, TOLD, is_showing, move
from forewarn.incident import Incident
from forewarn.records import Finding
from runbooks import Table
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu

GPU = gpu(1, 3)
WHAT = (samples.HOT, samples.THROTTLED, samples.CLOCK_DOWN, samples.XID_79)


class LifeOfAnIncident(RuleBasedStateMachine):
    """Findings open and close on one GPU, time passes, people act; what must hold, holds."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        # No runbook: the life cycle does not depend on causes.
        self.stage = Stage(Path(self.folder.name) / "decide.sqlite", table=Table({}))
        self.seconds = 0.0
        self.open: dict[str, Finding] = {}
        self.seen: dict[str, list[Incident]] = {}
        self.stage.feed(finding(samples.HOT, gpu(7, 7), 0))  # the clock runs from here on

    def teardown(self) -> None:
        self.stage.close()
        self.folder.cleanup()

    @rule(what=st.sampled_from(WHAT))
    def opens(self, what: dict[str, str]) -> None:
        self.seconds += 1
        own = finding(what, GPU, self.seconds)
        self.open[own.id] = own
        self.stage.feed(own)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def closes(self, data: st.DataObject) -> None:
        self.seconds += 1
        own = self.open.pop(data.draw(st.sampled_from(sorted(self.open))))
        self.stage.feed(samples.closed(own, self.seconds))

    @rule(seconds=st.sampled_from([10, QUIET_SECONDS - 1, QUIET_SECONDS, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.seconds += seconds
        self.stage.idle(self.seconds)

    @rule(action=st.sampled_from([acknowledge("li"), resolve("li")]))
    def somebody_acts(self, action: object) -> None:
        for own in self.mine()[-1:]:
            try:
                self.stage.decide.act(own.id, action)  # type: ignore[arg-type]
            except ActionError:
                assert own.state in {"resolved", "closed", "acknowledged", "mitigated"}

    @rule()
    def decide_restarts(self) -> None:
        path, now = self.stage.store.database.path, self.stage.now
        self.stage.close()
        self.stage = Stage(path, table=Table({}))
        self.stage.now = now
        self.stage.feed(finding(samples.HOT, gpu(7, 7), self.seconds))  # its clock runs again

    def mine(self) -> list[Incident]:
        return [own for own in self.stage.living() if own.entity == GPU]

    @invariant()
    def at_most_one_incident_lives(self) -> None:
        live = [own for own in self.mine() if own.state not in {"resolved", "closed"}]
        assert len(live) <= 1

    @invariant()
    def generations_count_up(self) -> None:
        generations = sorted(own.generation for own in self.mine())
        assert generations == list(range(1, len(generations) + 1))

    @invariant()
    def no_open_finding_is_forgotten(self) -> None:
        held = {one.id for own in self.mine() for one in own.evidence}
        assert self.open.keys() <= held

    @invariant()
    def nothing_ends_by_itself_while_a_finding_is_open(self) -> None:
        for own in self.mine():
            by_hand = any(line.what == "resolved" and line.by for line in own.timeline)
            if not by_hand and is_showing(own):
                assert own.state in {"open", "acknowledged"}

    @invariant()
    def history_only_grows_and_states_follow_the_table(self) -> None:
        for own in self.mine():
            before = self.seen.setdefault(own.id, [])
            if before:
                last = before[-1]
                assert own.timeline[: len(last.timeline)] == last.timeline
                assert own.seq >= last.seq
                assert own.first_evidence_at_unix_nano == last.first_evidence_at_unix_nano
            states = ["open", *(line.what for line in own.timeline if line.what in NEXT)]
            for one, following in itertools.pairwise(states):
                assert following in NEXT[one]  # type: ignore[index]
            before.append(own)

    @invariant()
    def each_told_revision_is_told_once_and_in_order(self) -> None:
        with self.stage.store.database.read() as connection:
            for own in self.mine():
                rows = connection.execute(
                    "SELECT webhook_id FROM outbox WHERE incident = ? ORDER BY id", (own.id,)
                ).fetchall()
                wanted = [f"{own.id}:{own.generation}:{seq}" for seq in range(1, own.seq + 1)]
                assert [id_ for (id_,) in rows] == wanted


TestLifeOfAnIncident = LifeOfAnIncident.TestCase
TestLifeOfAnIncident.settings = settings(max_examples=15, stateful_step_count=25)


def test_every_state_is_reached_and_words_of_states_are_in_the_table() -> None:
    reached = {state for following in NEXT.values() for state in following}
    assert reached == NEXT.keys()
    assert {"acknowledged", "resolved", "merged"} <= TOLD.keys()


def test_step_that_is_not_in_the_table_is_refused(stage: Stage) -> None:
    stage.feed(finding(samples.HOT, GPU, 0))
    (own,) = stage.living()
    ended = move(own, "resolved", samples.at(1))
    with pytest.raises(ValueError, match="is resolved: it cannot become open"):
        move(ended, "open", samples.at(2))
