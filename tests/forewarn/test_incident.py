"""The incident survives JSON whole: that is how it is stored, sent and shown."""

import msgspec

from forewarn.incident import (
    Feedback,
    Hypothesis,
    Incident,
    Point,
    Step,
    TimelineItem,
)
from forewarn.language import Text
from forewarn.records import Finding

FINDING = Finding(
    id="f", cluster="c", entity="node/n7/gpu/0", signal="nvidia.xid", family="event",
    movement="event", value_class="code", opened_at_unix_nano=1, updated_at_unix_nano=1,
    code="nvidia.xid:79",
)  # fmt: skip
CAUSE = Hypothesis(
    entry="GPU-BUS-01", rev=2, kind="cause", entity="node/n7/gpu/0",
    title=Text("fell off the bus", "掉卡"), score=3.5, share=0.875,
    support=(Point(Text("Xid 79"), "present", 3.5, ("f",)),),
    missing=(Point(Text("AER"), "not_collected", 0.0),),
    first_step=Step("drain", Text("Drain the node", "隔离节点"), needs_approval=True),
    counts=(4, 1),
)  # fmt: skip
INCIDENT = Incident(
    id="01J", key="k", generation=2, seq=3, cluster="c", state="open", severity="critical",
    title=Text("GPU fell off the bus", "掉卡"), entity="node/n7/gpu/0", affected=("node/n7",),
    jobs=("4711",), first_evidence_at_unix_nano=1, detected_at_unix_nano=2,
    updated_at_unix_nano=3, evidence=(FINDING,), hypotheses=(CAUSE,),
    feedback=(Feedback("GPU-BUS-01", 2, "confirmed", "rma", "ops", 9),),
    timeline=(TimelineItem(1, "opened"),),
)  # fmt: skip


def test_incident_survives_json() -> None:
    encoded = msgspec.json.encode(INCIDENT)
    assert msgspec.json.decode(encoded, type=Incident) == INCIDENT
    assert "掉卡".encode() in encoded
