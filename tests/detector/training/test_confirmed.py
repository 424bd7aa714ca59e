"""Confirmed incidents are left out of history: in tables by row, in recordings by reading."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from detector.training import tidy
from detector.training.confirmed import BEFORE_SECONDS, Confirmed, IncidentsError
from detector.training.train import train
from forewarn import wire
from forewarn.incident import Feedback, Incident, Text
from forewarn.recording import Writer
from forewarn.records import NANOSECONDS
from tests.detector.families.test_context import Room
from tests.detector.training.history import CORE, GPUS, T0, history

MINUTE = 60 * NANOSECONDS


def incident(
    entity: str, first: int, last: int | None, verdict: str = "confirmed", *affected: str
) -> Incident:
    """Return an incident between two minutes after T0."""
    begin = T0 * NANOSECONDS + first * MINUTE
    return Incident(
        id="01KE6K0000000000000000000A", key=entity, generation=1, seq=3, cluster="c",
        state="resolved", severity="major", title=Text("a", "a"), entity=entity,
        affected=affected, jobs=(), first_evidence_at_unix_nano=begin, detected_at_unix_nano=begin,
        updated_at_unix_nano=begin, evidence=(),
        resolved_at_unix_nano=None if last is None else T0 * NANOSECONDS + last * MINUTE,
        feedback=(Feedback("GPU-TP-01", 1, verdict, "diagnostic", "ann", begin),),
    )  # fmt: skip


def written(path: Path, *incidents: Incident) -> Path:
    path.write_bytes(b"\n".join(msgspec.json.encode(own) for own in incidents) + b"\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> tidy.Rows:
    history(120).to_csv(tmp_path / "a.csv", index=False)
    return tidy.read(tmp_path / "a.csv")


def test_rows_of_the_device_and_the_time_are_left_out(table, tmp_path):
    own = Confirmed.read(written(tmp_path / "i.jsonl", incident(GPUS[2], 40, 60)))
    kept = own.rows(table)
    mine = np.array([entity == GPUS[2] for _, entity in kept.names])[kept.which]
    minutes = set(((kept.seconds[mine] - T0) / 60).astype(int).tolist())
    assert minutes == set(range(120)) - set(range(40 - int(BEFORE_SECONDS) // 60, 61))
    assert own.left_out == len(table.values) - len(kept.values) == 2 * 36


def test_what_nobody_confirmed_is_history(table, tmp_path):
    own = Confirmed.read(written(tmp_path / "i.jsonl", incident(GPUS[2], 40, 60, "refuted")))
    assert len(own.rows(table).values) == len(table.values)


def test_node_takes_its_devices_along_until_the_end_if_it_never_was_resolved(table, tmp_path):
    own = Confirmed.read(written(tmp_path / "i.jsonl", incident("node/n5", 60, None)))
    kept = own.rows(table)
    mine = np.array([entity == GPUS[5] for _, entity in kept.names])[kept.which]
    assert kept.seconds[mine].max() < T0 + 45 * 60


def test_line_that_is_no_incident_is_named(tmp_path):
    path = written(tmp_path / "i.jsonl", incident(GPUS[2], 40, 60))
    path.write_bytes(path.read_bytes() + b'{"id": 3}\n')
    with pytest.raises(IncidentsError, match=r"i\.jsonl:2: .*incident list --json"):
        Confirmed.read(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(IncidentsError, match=r"no\.jsonl"):
        Confirmed.read(tmp_path / "no.jsonl")


def test_recording_loses_readings_but_no_frames(tmp_path):
    room, messages = Room(), []
    room.bench.feed = lambda *own: messages.extend(own) or []
    room.cycle(2)
    with Writer(tmp_path / "a.fwrec", "c") as writer:
        for message in messages:
            writer.write(message)
    frames = [wire.decode_frame(m.value) for m in messages if m.topic == "frames"]
    entity = next(e for n, e in wire.decode_layout(frames[0].layout).pairs() if n == CORE)
    at = frames[0].time_unix_nano
    fault = msgspec.structs.replace(
        incident(entity, 0, None), first_evidence_at_unix_nano=at,
    )  # fmt: skip
    model, report = train(
        [tmp_path / "a.fwrec"], None, lambda _n, _s: None,
        written(tmp_path / "i.jsonl", fault),
    )  # fmt: skip
    assert report.confirmed > 0
    assert report.rows == len(messages)
    assert entity not in model.arrays.context_entities.tolist()
