"""Who counts what of a network port: a visible table, by signal.

Sources: Documentation/ABI/stable/sysfs-class-infiniband (`counters`), the drivers' own tables of
`hw_counters` (mlx5_ib, bnxt_re, irdma, rxe, efa) and of driver statistics (mlx5e, bnxt_en, ice,
i40e, ionic), Documentation/ABI/testing/sysfs-class-net-statistics. Newer bnxt_re took over the
names of mlx5.
"""

import re
from typing import Literal

import msgspec

WORD_BYTES = 4.0  # port_*_data counts words of 32 bits
WORDS_END = 2.0**32 - 1


class Part(msgspec.Struct, frozen=True):
    """One counter: a file of the RDMA port or of the interface, or a pattern of driver statistics.

    `stops_at` is where a narrow counter stops counting. Statistics that fit a pattern are added up.
    """

    where: Literal["rdma", "net", "driver"]
    name: str
    factor: float = 1.0
    stops_at: float | None = None


Alternatives = tuple[tuple[Part, ...], ...]


def _net(name: str) -> Part:
    return Part("net", f"statistics/{name}")


def _driver(*patterns: str) -> Part:
    pattern = "|".join(patterns)
    re.compile(pattern)
    return Part("driver", pattern)


def _classic(name: str, factor: float = 1.0, stops_at: float | None = None) -> Part:
    return Part("rdma", f"counters/{name}", factor, stops_at)


def _words(name: str) -> Part:
    return _classic(name, WORD_BYTES, WORDS_END)


def _hw(*names: str) -> Alternatives:
    """Return files of `hw_counters`, of which a driver has one."""
    return tuple((Part("rdma", f"hw_counters/{name}"),) for name in names)


# Alternatives in order of preference, each a sum: the first that the port has at all is read.
# What passes the physical port comes first: a software counter does not see RDMA traffic.
SOURCES: dict[str, Alternatives] = {
    "nic_rx_bytes_total": (
        (_driver(r"rx_bytes_phy", r"rx_bytes\.nic"),),
        (_words("port_rcv_data"), _net("rx_bytes")),
        *_hw("rx_bytes"),
    ),
    "nic_tx_bytes_total": (
        (_driver(r"tx_bytes_phy", r"tx_bytes\.nic"),),
        (_words("port_xmit_data"), _net("tx_bytes")),
        *_hw("tx_bytes"),
    ),
    "nic_rx_errors_total": ((_classic("port_rcv_errors", stops_at=65535), _net("rx_errors")),),
    "nic_rx_drops_total": (
        (_driver(r"rx_discards_phy", r"rx_dropped\.nic", r"rx_stat_discard"), _net("rx_dropped")),
    ),
    "nic_tx_discards_total": (
        (_driver(r"tx_discards_phy", r"tx_stat_discard"), _net("tx_dropped")),
        (_classic("port_xmit_discards", stops_at=65535),),
    ),
    "nic_symbol_errors_total": (
        (_driver(r"rx_pcs_symbol_err(_phy)?"),),
        (_classic("symbol_error", stops_at=65535),),
    ),
    "nic_fec_uncorrected_codewords_total": (
        (_driver(r"rx_fec_uncorrectable_blocks", r"rsfec_uncorrectable_word"),),
    ),
    "nic_link_downed_total": (
        (_driver(r"link_down_events(_phy)?"),),
        (_classic("link_downed", stops_at=255),),
        *_hw("link_downed"),
    ),
    "nic_link_recoveries_total": ((_classic("link_error_recovery", stops_at=255),),),
    "nic_link_integrity_errors_total": ((_classic("local_link_integrity_errors", stops_at=15),),),
    "nic_buffer_overruns_total": ((_classic("excessive_buffer_overrun_errors", stops_at=15),),),
    "nic_tx_wait_ticks_total": ((_classic("port_xmit_wait", stops_at=WORDS_END),),),
    "nic_carrier_changes_total": ((Part("net", "carrier_changes"),),),
    "nic_rx_out_of_sequence_packets_total": _hw(
        "out_of_sequence", "out_of_seq_request", "oos_drop_count"
    ),
    "nic_packet_sequence_errors_total": _hw("packet_seq_err", "seq_err_naks_rcvd", "rcvd_seq_err"),
    "nic_ack_timeouts_total": _hw("local_ack_timeout_err", "to_retransmits"),
    "nic_rnr_nak_retries_total": _hw(
        "rnr_nak_retry_err", "rnr_naks_rcvd", "retry_rnr_exceeded_err"
    ),
    "nic_retries_exceeded_total": _hw(
        "req_transport_retries_exceeded", "max_retry_exceeded", "retry_exceeded_err"
    ),
    "nic_retransmitted_packets_total": _hw("RetransSegs", "tcpRetransSegs", "retrans_pkts"),
    "nic_cnp_sent_packets_total": _hw("np_cnp_sent", "tx_cnp_pkts", "cnpSent"),
    "nic_cnp_handled_packets_total": _hw("rp_cnp_handled", "rx_cnp_pkts", "cnpHandled"),
    "nic_ecn_marked_packets_total": _hw(
        "np_ecn_marked_roce_packets", "rx_ecn_marked_pkts", "RxECNMrkd", "rxECNMrkd"
    ),
    "nic_out_of_buffer_drops_total": (
        *_hw("out_of_buffer", "rx_out_of_buffer"),
        (_driver(r"rx_out_of_buffer"),),
    ),
    "nic_slow_restarts_total": _hw("roce_slow_restart"),
    "nic_adaptive_retransmits_total": _hw("roce_adp_retrans"),
    "nic_adaptive_retransmit_timeouts_total": _hw("roce_adp_retrans_to"),
    # Per priority where flow control is per priority, else of the whole link: never both.
    "nic_pfc_tx_pause_frames_total": (
        (_driver(r"tx_prio\d_pause", r"tx_global_pause"),),
        (_driver(r"tx_pfc_frames", r"tx_pause_frames", r"frames_tx_(pri)?pause"),),
        (_driver(r"(port\.)?tx_priority_\d_xoff(\.nic)?", r"(port\.)?link_xoff_tx(\.nic)?"),),
    ),
    "nic_pfc_rx_pause_frames_total": (
        (_driver(r"rx_prio\d_pause", r"rx_global_pause"),),
        (_driver(r"rx_pfc_frames", r"rx_pause_frames", r"frames_rx_(pri)?pause"),),
        (_driver(r"(port\.)?rx_priority_\d_xoff(\.nic)?", r"(port\.)?link_xoff_rx(\.nic)?"),),
    ),
    "nic_pfc_storm_events_total": (
        (_driver(r"tx_pause_storm_(warning|error)_events", r"continuous_(roce_)?pause_events"),),
    ),
}
