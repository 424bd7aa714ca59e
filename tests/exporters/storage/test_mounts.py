import sys
from collections.abc import Callable

from exporters.children import Children
from exporters.collector import Host
from exporters.storage.mounts import Mounts, is_shared
from tests.exporters.fakes import table

Put = Callable[[str, str], None]
PROBE = "storage_mount_probe_seconds"
TABLE = "10.0.0.1:/a {a} nfs4 rw 0 0\n10.0.0.1:/b {b} nfs4 rw 0 0\n/dev/sda1 / ext4 rw 0 0\n"
# Answers as the mount of that name would: `a` at once, `hung` never, `stale` with an error.
SCRIPT = """
import sys, time
path = sys.argv[-1]
time.sleep(600 if "hung" in path else 0)
sys.exit("stale" in path)
"""
COMMAND = (sys.executable, "-c", SCRIPT)


class Bench:
    def __init__(self, host: Host, put: Put) -> None:
        self._put = put
        self.children = Children(1.5)
        self.own = Mounts(host, self.children, COMMAND)

    def read(self, text: str) -> dict[str, float | str]:
        self._put("proc/mounts", text)
        return {entity: value for (_, entity), value in table(self.own.read({PROBE})).items()}

    def codes(self) -> list[tuple[str, str]]:
        return [(n.entity.removeprefix("node/n7/mount/"), n.code) for n in self.own.notices()]


def test_each_shared_mount_is_probed_and_local_ones_are_not(empty: Host, put: Put) -> None:
    bench = Bench(empty, put)
    found = bench.read(TABLE.format(a="/a", b="/my\\040b"))
    assert set(found) == {"mount/%2Fa", "mount/%2Fmy%20b"}
    assert all(0 < float(seconds) < 5 for seconds in found.values())
    assert bench.codes() == []


def test_a_mount_that_hangs_costs_only_itself_and_is_told_once(empty: Host, put: Put) -> None:
    bench = Bench(empty, put)
    for killed in (1, 2):
        found = bench.read(TABLE.format(a="/a", b="/hung"))
        assert found["mount/%2Fhung"] == "FAILED"
        assert float(found["mount/%2Fa"]) > 0
        assert bench.children.killed == killed
        told = [("%2Fhung", "storage.mount_state:hung")]
        assert bench.codes() == (told if killed == 1 else [])


def test_a_mount_that_is_gone_is_lost_and_comes_back(empty: Host, put: Put) -> None:
    bench = Bench(empty, put)
    both = TABLE.format(a="/a", b="/b")
    bench.read(both)
    found = bench.read("10.0.0.1:/a /a nfs4 rw 0 0\n")
    assert found["mount/%2Fb"] == "FAILED"
    assert bench.codes() == [("%2Fb", "storage.mount_state:lost")]
    bench.read(both)
    assert bench.codes() == [("%2Fb", "storage.mount_state:mounted")]


def test_a_mount_that_answers_with_an_error_is_lost(empty: Host, put: Put) -> None:
    bench = Bench(empty, put)
    assert bench.read(TABLE.format(a="/a", b="/stale"))["mount/%2Fstale"] == "FAILED"
    assert bench.codes() == [("%2Fstale", "storage.mount_state:lost")]


def test_a_mount_of_an_automounter_comes_and_goes(empty: Host, put: Put) -> None:
    bench = Bench(empty, put)
    place = "auto.home /home autofs rw 0 0\n"
    bench.read(place + "10.0.0.1:/u /home/u nfs4 rw 0 0\n")
    assert bench.read(place) == {}
    assert bench.codes() == []


def test_types_that_lead_to_a_server_are_known() -> None:
    assert is_shared("lustre")
    assert is_shared("fuse.juicefs")
    assert not is_shared("fuse.lxcfs")
    assert not is_shared("xfs")


def test_the_probe_of_this_system_answers(empty: Host, put: Put) -> None:
    put("proc/mounts", "10.0.0.1:/x / nfs4 rw 0 0\n")
    (found,) = Mounts(empty).read({PROBE})
    assert found.value > 0
