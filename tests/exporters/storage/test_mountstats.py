from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.collector import CollectorError, Host
from exporters.storage.mountstats import Mountstats, parse
from tests.exporters.fakes import Everything, table

Put = Callable[[str, str], None]
# NFS 4.2 over loopback, captured on kernel 6.1.
CAPTURED = (Path(__file__).parents[1] / "fixtures/mountstats.txt").read_text()
MOUNT = "mount/%2Fsrv%2Fmnt"


def later(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_captured_mount_gives_its_counts_per_operation(empty: Host, put: Put) -> None:
    put("proc/self/mountstats", CAPTURED)
    found = table(Mountstats(empty).read(Everything()))
    assert found["storage_operations_total", f"{MOUNT}/op/WRITE"] == 64
    assert found["storage_operation_latency_seconds", f"{MOUNT}/op/WRITE"] == "NOT_DUE"
    assert found["storage_rpc_backlogged_requests_total", MOUNT] == 0
    assert found["storage_rpc_pending_requests_total", MOUNT] == 663
    assert found["storage_rpc_retransmissions_total", MOUNT] == 0
    assert ("storage_operations_total", f"{MOUNT}/op/READ") not in found  # never used


def test_means_are_made_of_two_readings(empty: Host, put: Put) -> None:
    own = Mountstats(empty)
    put("proc/self/mountstats", CAPTURED)
    own.read(Everything())
    # 10 writes more, 2 of them sent twice, one given up: 500 ms queued, 3 s in all.
    line = "WRITE: 74 76 1 16790016 11776 12778 6906 22294 0"
    put(
        "proc/self/mountstats",
        later(CAPTURED, "WRITE: 64 64 0 16790016 11776 12278 6906 19294 0", line),
    )
    found = table(own.read(Everything()))
    assert found["storage_operation_latency_seconds", f"{MOUNT}/op/WRITE"] == pytest.approx(0.3)
    assert found["storage_operation_latency_seconds", f"{MOUNT}/op/COMMIT"] == "NOT_DUE"
    assert found["storage_rpc_slot_wait_seconds", MOUNT] == pytest.approx(0.05)
    assert found["storage_rpc_retransmissions_total", MOUNT] == 2
    assert found["storage_rpc_timeouts_total", MOUNT] == 1


def test_a_mount_made_anew_gives_no_mean(empty: Host, put: Put) -> None:
    own = Mountstats(empty)
    put("proc/self/mountstats", CAPTURED)
    own.read(Everything())
    put("proc/self/mountstats", later(CAPTURED, "WRITE: 64 64", "WRITE: 3 3"))
    found = table(own.read(Everything()))
    assert found["storage_operation_latency_seconds", f"{MOUNT}/op/WRITE"] == "NOT_DUE"


def test_several_connections_of_a_mount_are_added_up() -> None:
    line = "xprt:	tcp 0 0 2 0 0 96 96 0 838 4 31 1044 600\n"
    (mount,) = parse(later(CAPTURED, "	xprt:	tcp", f"	{line}	xprt:	tcp"))
    assert (mount.backlog, mount.pending) == (4, 1263)


def test_a_transport_without_queue_counts_does_not_support_them(empty: Host, put: Put) -> None:
    put("proc/self/mountstats", later(CAPTURED, "xprt:	tcp", "xprt:	quic"))
    found = table(Mountstats(empty).read(Everything()))
    assert found["storage_rpc_pending_requests_total", MOUNT] == "UNSUPPORTED"


def test_other_file_systems_are_passed_over() -> None:
    assert parse("device proc mounted on /proc with fstype proc\n") == []


def test_what_is_no_number_is_an_error_that_names_the_mount() -> None:
    with pytest.raises(CollectorError, match=r"mountstats of /srv/mnt: .*'x'"):
        parse(later(CAPTURED, "WRITE: 64 64 0", "WRITE: 64 x 0"))


def test_a_kernel_without_network_file_systems_has_none(empty: Host) -> None:
    assert Mountstats(empty).read(Everything()) == []
