from exporters.collector import Measurement, failed, unsupported
from forewarn.records import Placement
from tests.exporters.fakes import Clock, Line

NODE, DISK = "node/n7", "node/n7/disk/a"
SIGNAL = "disk_io_seconds_total"


def test_what_a_source_reads_is_told_once_and_again_when_it_changes(line: Line) -> None:
    own = line.announcer
    for _ in range(3):
        own.observe("drives", [Measurement(SIGNAL, DISK, 1.0)])
        own.announce()
    (item,) = line.items()
    assert (item.cluster, item.entity) == ("c1", DISK)
    assert item.collects == {"drives": (SIGNAL,)}
    own.observe("drives", [Measurement("disk_read_bytes_total", DISK, 1.0)])
    own.announce()
    assert line.items()[1].collects == {"drives": (SIGNAL, "disk_read_bytes_total")}


def test_what_a_device_cannot_give_is_told_and_taken_back(line: Line) -> None:
    own = line.announcer
    own.observe("drives", [unsupported(SIGNAL, DISK)])
    own.announce()
    own.observe("drives", [Measurement(SIGNAL, DISK, 1.0)])
    own.announce()
    assert [item.unsupported for item in line.items()] == [(SIGNAL,), ()]


def test_a_failed_reading_is_still_collected(line: Line) -> None:
    own = line.announcer
    own.observe("drives", [Measurement(SIGNAL, DISK, 1.0)])
    own.announce()
    own.observe("drives", [failed(SIGNAL, DISK)])
    own.observe("drives", [])
    own.announce()
    assert len(line.items()) == 1


def test_everything_is_told_again_in_turn(line: Line, clock: Clock) -> None:
    own = line.announcer
    own.describe(NODE, {"rack": "r1"})
    own.announce()
    clock.seconds += 599
    own.announce()
    assert len(line.items()) == 1
    clock.seconds += 2
    own.announce()
    assert [item.attributes for item in line.items()] == [{"rack": "r1"}] * 2


def test_a_rank_is_placed_and_removed(line: Line) -> None:
    own, rank = line.announcer, "job/1/rank/0"
    placement = Placement("1", 0, "n7")
    for _ in range(2):
        own.place(rank, placement)
        own.announce()
    own.remove(rank)
    own.remove(rank)
    own.announce()
    assert [(item.placement, item.removed) for item in line.items()] == [
        (placement, False),
        (None, True),
    ]


def test_the_devices_of_a_process_are_those_last_seen_in_its_use(line: Line) -> None:
    own, gpu, other = line.announcer, "node/n7/gpu/0000:1a:00.0", "node/n7/gpu/0000:1b:00.0"
    own.use(gpu, {gpu: {1}, f"{gpu}/mig/3": {2}})
    own.use(other, {other: {1}})
    assert own.devices_of(1) == (gpu, other)
    assert own.devices_of(2) == (f"{gpu}/mig/3",)
    own.use(other, {})
    assert own.devices_of(1) == (gpu,)
    assert own.devices_of(3) == ()
