import threading
from collections.abc import Callable

from exporters.collector import Host
from exporters.storage.filesystems import Filesystems, Mount, Space, parse, space
from tests.exporters.fakes import Everything, table

MOUNTS = """/dev/sda1 / ext4 rw,relatime 0 0
/dev/sdb1 /my\\040data xfs ro,relatime,errors=ro 0 0
tmpfs /run tmpfs rw 0 0
10.0.0.1:/x /nfs nfs4 rw,hard 0 0
/dev/sdc1 /stuck ext4 rw,norecovery 0 0
"""


def test_local_file_systems_are_read_with_their_flags() -> None:
    assert parse(MOUNTS) == [
        Mount("/", "ext4", False, "/dev/sda1"),
        Mount("/my data", "xfs", True, "/dev/sdb1"),
        Mount("/stuck", "ext4", False, "/dev/sdc1"),
    ]


def test_the_last_mount_on_a_path_is_the_one_seen() -> None:
    assert parse("a /x ext4 rw 0 0\nb /x xfs ro 0 0\n") == [Mount("/x", "xfs", True, "b")]
    assert parse("a /x ext4 rw 0 0\nb /x tmpfs rw 0 0\n") == []


def test_part_that_is_mounted_again_is_no_file_system_of_its_own() -> None:
    again = "/dev/sda1 /run/netns ext4 rw 0 0\n/dev/sdb1 /data/part xfs rw 0 0\n"
    assert parse(MOUNTS + again) == parse(MOUNTS)


def test_captured_machine_has_its_root(captured: Host) -> None:
    found = table(Filesystems(captured, lambda path: Space(0.5, None)).read(Everything()))
    assert found == {
        ("node_filesystem_read_only", "mount/%2F"): 0.0,
        ("node_filesystem_used_ratio", "mount/%2F"): 0.5,
        ("node_filesystem_inodes_used_ratio", "mount/%2F"): "UNSUPPORTED",
    }


def test_a_mount_that_hangs_costs_only_itself_and_is_probed_once(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("proc/mounts", MOUNTS)
    release, probed = threading.Event(), []

    def probe(path: str) -> Space:
        probed.append(path)
        if path == "/stuck":
            assert release.wait(60)
        return Space(0.1, 0.2)

    own = Filesystems(empty, probe, probe_seconds=0.2)
    for _ in range(2):
        found = table(own.read({"node_filesystem_used_ratio"}))
        assert found["node_filesystem_used_ratio", "mount/%2Fstuck"] == "FAILED"
        assert found["node_filesystem_used_ratio", "mount/%2F"] == 0.1
    assert probed.count("/stuck") == 1
    release.set()


def test_a_mount_that_refuses_has_failed(empty: Host, put: Callable[[str, str], None]) -> None:
    put("proc/mounts", "/dev/sda1 / ext4 rw 0 0\n")

    def probe(path: str) -> Space:
        raise PermissionError(13, "Permission denied")

    found = table(Filesystems(empty, probe).read(Everything()))
    assert found["node_filesystem_used_ratio", "mount/%2F"] == "FAILED"
    assert found["node_filesystem_read_only", "mount/%2F"] == 0


def test_the_root_of_this_machine_has_shares() -> None:
    own = space("/")
    assert own.used is not None
    assert 0 < own.used <= 1
