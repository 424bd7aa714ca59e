from exporters.collector import Measurement, failed
from tests.exporters.fakes import BOOT_ID, Line


def test_an_event_is_masked_and_cut(line: Line) -> None:
    text = "mount https://bob:pw@host/ token=abc " + "x" * 5000
    line.outlet.event("node/n7", "kernel.event:panic", 5, "critical", text, "kernel_log", 9)
    (event,) = line.events()
    assert event.text.startswith("mount https://***@host/ token=*** xxx")
    assert len(event.text.encode()) == 2048
    assert (event.cluster, event.node, event.boot_id, event.seq) == ("c1", "n7", BOOT_ID, 9)


def test_an_empty_frame_is_not_sent(line: Line) -> None:
    line.outlet.frame("agent", 1, [])
    assert line.frames() == []


def test_readings_are_counted_by_outcome(line: Line) -> None:
    good = Measurement("disk_io_seconds_total", "node/n7/disk/a", 1.0)
    bad = failed("disk_io_seconds_total", "node/n7/disk/b")
    line.outlet.show("drives", [good, good, bad])
    assert line.count("forewarn_readings_total", outcome="ok") == 2
    assert line.count("forewarn_readings_total", outcome="failed") == 1


def test_frames_carry_the_key_of_their_topic(line: Line) -> None:
    own = [Measurement("job_loss", "job/1", 1.0)]
    line.outlet.frame("reporter:1", 1, own, topic="jobs", key="1")
    line.outlet.frame("agent", 1, own)
    assert [f.source for f in line.frames("jobs")] == ["reporter:1"]
    assert [f.source for f in line.frames("frames")] == ["agent"]


def test_two_events_of_a_source_without_a_sequence_are_told_apart(line: Line) -> None:
    for at in (5, 6, 6):
        line.outlet.event("job/1", "job.state:checkpoint_begin", at, "info", "", "reporter:1")
    assert [event.seq for event in line.events()] == [5, 6, 6]
