"""Incidents in a terminal: what stands for a shell, what was left out, names decoded."""

import io

import msgspec
import pytest
from rich.console import Console

from forewarn import entity as entities
from forewarn.cli import render
from forewarn.incident import Hypothesis, Incident, Step
from forewarn.language import Language, Text
from tests.detector import samples

MOUNT = entities.path("node", "n7", "mount", "/数据")
FULL = samples.finding(samples.HOT, MOUNT, 0)
CHECK = Step("look", Text("Look", "查看"), "node_filesystem_used_ratio > 0.9", kind="query")
CAUSE = Hypothesis(
    entry="HOST-07", rev=1, kind="cause", entity=MOUNT, title=Text("full", "写满"), score=3.0,
    share=0.9, first_step=msgspec.structs.replace(CHECK, command="df -h", kind="command"),
    next_check=CHECK,
)  # fmt: skip
INCIDENT = Incident(
    id="01J", key="k", generation=1, seq=1, cluster="c", state="open", severity="major",
    title=Text("Disk full", "磁盘写满"), entity=MOUNT, affected=(MOUNT,), jobs=("%E5%A4%A7",),
    first_evidence_at_unix_nano=1, detected_at_unix_nano=2, updated_at_unix_nano=3,
    evidence=(FULL,), hypotheses=(CAUSE,),
)  # fmt: skip


def shown(incident: Incident, language: Language = "en") -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(render.incident_panel(incident, language))
    render.evidence_table(incident, out, language)
    out.print(render.incident_table([incident], language))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_query_stands_as_promql_and_only_a_command_after_a_prompt() -> None:
    text = shown(INCIDENT)
    assert "PromQL: node_filesystem_used_ratio > 0.9" in text
    assert "$ df -h" in text
    assert "$ node_filesystem" not in text


def test_encoded_names_are_shown_decoded() -> None:
    text = shown(INCIDENT)
    assert text.count("node/n7/mount//数据") == 3
    assert "大" in text
    assert "%" not in text.replace("90%", "")


def test_what_would_steer_the_terminal_stays_encoded() -> None:
    assert entities.shown(entities.path("job", "a\x1b[2Jb\n大")) == "job/a%1B[2Jb%0A大"


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "and 12 more that tell less, 3 of them not over"),
     ("zh", "另有 12 项次要证据，其中 3 项未结束")],
)  # fmt: skip
def test_evidence_that_is_left_out_is_counted(language: Language, words: str) -> None:
    more = msgspec.structs.replace(INCIDENT, evidence_left_out=12, evidence_left_out_open=3)
    assert words in shown(more, language)
    assert words not in shown(INCIDENT, language)


def test_finding_that_nobody_speaks_of_any_more_is_marked() -> None:
    unheard = msgspec.structs.replace(INCIDENT, not_collected=(FULL.id,))
    assert "(nobody speaks of it any more)" in shown(unheard)
    assert "nobody speaks" not in shown(INCIDENT)
