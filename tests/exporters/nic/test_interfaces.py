import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.collector import Host, Notice
from exporters.nic.ethtool import Ethtool, Names, Statistics
from exporters.nic.interfaces import Interfaces
from tests.exporters.fakes import Clock, Everything, table

Put = Callable[[str, str], None]
ETH = "nic/eth0/port/1"
MLX = "nic/mlx5_0/port/1"
RDMA = "sys/class/infiniband/mlx5_0/ports/1"


class Driver(Ethtool):
    """A driver that says what the test says."""

    def __init__(self, held: dict[str, int], speeds: list[int] | None = None) -> None:
        super().__init__()
        self.held, self.allowed = held, speeds or []

    def statistics(self, interface: str) -> Statistics:
        if not self.held:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return Statistics(Names(list(self.held)), list(self.held.values()))

    def speeds(self, interface: str) -> list[int]:
        return self.allowed


NONE = Driver({})


def plain(put: Put, name: str = "eth0", carrier: str = "1") -> None:
    put(f"sys/class/net/{name}/device/vendor", "0x15b3")
    put(f"sys/class/net/{name}/flags", "0x1003")
    put(f"sys/class/net/{name}/carrier", carrier)
    put(f"sys/class/net/{name}/carrier_changes", "2")
    for counter in ("rx_bytes", "tx_bytes", "rx_errors", "rx_dropped", "tx_dropped"):
        put(f"sys/class/net/{name}/statistics/{counter}", "7")


def rdma(put: Put, state: str = "4: ACTIVE", layer: str = "Ethernet") -> None:
    put(f"{RDMA}/state", state)
    put(f"{RDMA}/phys_state", "5: LinkUp")
    put(f"{RDMA}/link_layer", layer)
    put(f"{RDMA}/rate", "400 Gb/sec (4X NDR)")


def test_captured_machine_has_one_adapter_and_no_loopback(captured: Host) -> None:
    found = table(Interfaces(captured, NONE).read(Everything()))
    assert {entity for _, entity in found} == {ETH}
    assert found["nic_link_up", ETH] == 1
    assert float(found["nic_rx_bytes_total", ETH]) > 0


def test_speed_of_a_virtual_link_is_not_supported(captured: Host) -> None:
    found = table(Interfaces(captured, NONE).read({"nic_link_speed_bytes_per_second"}))
    assert found == {("nic_link_speed_bytes_per_second", ETH): "UNSUPPORTED"}


def test_speed_is_in_bytes_beside_its_highest(empty: Host, put: Put) -> None:
    plain(put)
    put("sys/class/net/eth0/speed", "200000\n")
    own = Interfaces(empty, Driver({}, [100_000, 400_000]))
    found = table(
        own.read({"nic_link_speed_bytes_per_second", "nic_link_speed_max_bytes_per_second"})
    )
    assert found["nic_link_speed_bytes_per_second", ETH] == 25e9
    assert found["nic_link_speed_max_bytes_per_second", ETH] == 50e9


def test_speed_is_not_due_while_the_link_is_down(empty: Host, put: Put) -> None:
    plain(put, carrier="0")
    put("sys/class/net/eth0/speed", "-1\n")
    found = table(Interfaces(empty, NONE).read({"nic_link_speed_bytes_per_second"}))
    assert found == {("nic_link_speed_bytes_per_second", ETH): "NOT_DUE"}


def test_an_rdma_port_and_its_interface_are_one_port(empty: Host, put: Put) -> None:
    plain(put)
    rdma(put)
    put(f"{RDMA}/gid_attrs/ndevs/0", "eth0")
    put(f"{RDMA}/hw_counters/np_cnp_sent", "11")
    found = table(Interfaces(empty, NONE).read(Everything()))
    assert {entity for _, entity in found} == {MLX}
    assert found["nic_cnp_sent_packets_total", MLX] == 11
    assert found["nic_rx_drops_total", MLX] == 7
    assert found["nic_link_speed_bytes_per_second", MLX] == 50e9


def test_words_of_the_port_become_bytes(empty: Host, put: Put) -> None:
    rdma(put, layer="InfiniBand")
    put(f"{RDMA}/counters/port_rcv_data", "250")
    found = table(Interfaces(empty, NONE).read({"nic_rx_bytes_total"}))
    assert found == {("nic_rx_bytes_total", MLX): 1000}


def test_what_passes_the_physical_port_comes_first(empty: Host, put: Put) -> None:
    plain(put)
    found = table(Interfaces(empty, Driver({"rx_bytes_phy": 99})).read({"nic_rx_bytes_total"}))
    assert found == {("nic_rx_bytes_total", ETH): 99}


@pytest.mark.parametrize(
    ("file", "signal", "stop"),
    [
        ("symbol_error", "nic_symbol_errors_total", 65535),
        ("link_downed", "nic_link_downed_total", 255),
        ("link_error_recovery", "nic_link_recoveries_total", 255),
        ("local_link_integrity_errors", "nic_link_integrity_errors_total", 15),
        ("port_xmit_wait", "nic_tx_wait_ticks_total", 4294967295),
        ("port_rcv_data", "nic_rx_bytes_total", 4294967295),
    ],
)
def test_a_counter_that_has_stopped_at_its_end_has_failed(
    empty: Host, put: Put, file: str, signal: str, stop: int
) -> None:
    rdma(put, layer="InfiniBand")
    for value, wanted in ((stop - 1, None), (stop, "FAILED"), (stop + 1, None)):
        put(f"{RDMA}/counters/{file}", f"{value}\n")
        found = table(Interfaces(empty, NONE).read({signal}))[signal, MLX]
        assert (found == "FAILED") is (wanted == "FAILED")


def test_flow_control_is_added_up_over_priorities(empty: Host, put: Put) -> None:
    plain(put)
    held = {"rx_prio0_pause": 2, "rx_prio3_pause": 40, "rx_prio3_pause_duration": 9, "rx_prio3": 1}
    found = table(Interfaces(empty, Driver(held)).read({"nic_pfc_rx_pause_frames_total"}))
    assert found == {("nic_pfc_rx_pause_frames_total", ETH): 42}


@pytest.mark.parametrize("content", ["N/A (no PMA)\n", "", "0x12"])
def test_text_in_place_of_a_number_is_not_supported(empty: Host, put: Put, content: str) -> None:
    rdma(put, layer="InfiniBand")
    put(f"{RDMA}/counters/symbol_error", content)
    found = table(Interfaces(empty, NONE).read({"nic_symbol_errors_total"}))
    assert found == {("nic_symbol_errors_total", MLX): "UNSUPPORTED"}


def test_an_adapter_that_refuses_all_its_counters_costs_no_other(
    empty: Host, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ConnectX-7 in switch mode answers EINVAL to every file of `counters`."""
    plain(put, "eth1")
    rdma(put, layer="InfiniBand")
    read_text = Path.read_text

    def refuse(path: Path, *args: str, **more: str) -> str:
        if "counters" in str(path) and "infiniband" in str(path):
            raise OSError(errno.EINVAL, "Invalid argument")
        return read_text(path, *args, **more)

    put(f"{RDMA}/counters/symbol_error", "1")
    monkeypatch.setattr(Path, "read_text", refuse)
    found = table(Interfaces(empty, NONE).read(Everything()))
    assert found["nic_symbol_errors_total", MLX] == "UNSUPPORTED"
    assert found["nic_link_up", MLX] == 1
    assert found["nic_rx_bytes_total", "nic/eth1/port/1"] == 7


def test_an_rdma_device_without_ports_is_passed_over(empty: Host, put: Put) -> None:
    put("sys/class/infiniband/odd_0/fw_ver", "1")
    put("sys/class/infiniband/odd_1/ports/1/lid", "0x0")
    found = table(Interfaces(empty, NONE).read(Everything()))
    assert {entity for _, entity in found} == {"nic/odd_1/port/1"}
    assert set(found.values()) == {"UNSUPPORTED"}


def test_driver_statistics_that_fail_are_a_failure(empty: Host, put: Put) -> None:
    plain(put)

    class Broken(Driver):
        def statistics(self, interface: str) -> Statistics:
            raise OSError(errno.EIO, "firmware does not answer")

    found = table(Interfaces(empty, Broken({})).read({"nic_pfc_storm_events_total"}))
    assert found == {("nic_pfc_storm_events_total", ETH): "FAILED"}


def test_a_change_of_state_is_noticed_once(empty: Host, put: Put) -> None:
    rdma(put, layer="InfiniBand")
    own = Interfaces(empty, NONE)
    seen: list[list[str]] = []
    for state in ("4: ACTIVE", "4: ACTIVE", "1: DOWN", "2: INIT", "4: ACTIVE"):
        put(f"{RDMA}/state", state)
        own.read({"nic_link_up"})
        seen.append([notice.code for notice in own.notices()])
    changes = [[], [], ["nic.link_state:down"], ["nic.link_state:init"], ["nic.link_state:active"]]
    assert seen == changes
    assert own.notices() == []


def test_a_link_that_blinks_between_two_readings_is_noticed(empty: Host, put: Put) -> None:
    plain(put)
    own = Interfaces(empty, NONE)
    own.read({"nic_link_up"})
    put("sys/class/net/eth0/carrier_changes", "4")
    own.read({"nic_link_up"})
    told = "the carrier changed 2 times between two readings"
    entity = f"node/n7/{ETH}"
    assert own.notices() == [
        Notice(entity, "nic.link_state:down", "major", told),
        Notice(entity, "nic.link_state:active", "info", told),
    ]


def test_a_port_without_a_subnet_manager_is_not_up(empty: Host, put: Put) -> None:
    rdma(put, state="2: INIT", layer="InfiniBand")
    found = table(Interfaces(empty, NONE).read({"nic_link_up"}))
    assert found == {("nic_link_up", MLX): 0}


def test_utilization_is_the_busier_direction_over_the_speed(
    empty: Host, put: Put, clock: Clock
) -> None:
    plain(put)
    put("sys/class/net/eth0/speed", "8000")  # 1e9 bytes a second
    own = Interfaces(empty, NONE, clock.monotonic)
    share = "nic_utilization_ratio"
    due = {share, "nic_rx_bytes_total", "nic_tx_bytes_total"}
    assert table(own.read(due))[share, ETH] == "NOT_DUE"
    clock.seconds += 2
    put("sys/class/net/eth0/statistics/tx_bytes", str(7 + 500_000_000))
    assert table(own.read(due))[share, ETH] == pytest.approx(0.25)
