"""TCP segments of the node, sent and sent again, as the kernel counts them for all connections."""

from collections.abc import Container

from exporters.collector import CollectorError, Host, Measurement

FIELDS = {
    "node_tcp_retransmitted_segments_total": "RetransSegs",
    "node_tcp_sent_segments_total": "OutSegs",
}


def parse(text: str) -> dict[str, int]:
    """Return the counters of TCP: a line of names, and below it one of numbers.

    Source: RFC 4022 (tcpOutSegs leaves out what is only sent again); proc_pid_net(5), snmp.
    Raises CollectorError.
    """
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        raise CollectorError("snmp: expected two lines `Tcp:` of one length")
    counts = dict(zip(lines[0], map(int, lines[1]), strict=True))
    if missing := sorted(set(FIELDS.values()) - counts.keys()):
        raise CollectorError(f"snmp: no {', '.join(missing)} in `Tcp:`")
    return counts


class Tcp:
    """Reads /proc/net/snmp, which is of the network namespace that the agent runs in."""

    name = "tcp"
    signals = tuple(FIELDS)
    deadline_seconds = 1.0

    def __init__(self, host: Host) -> None:
        self._entity, self._path = host.entity, host.proc / "net/snmp"

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the counters that are due."""
        wanted = [signal for signal in FIELDS if signal in due]
        counts = parse(self._path.read_text(encoding="ascii")) if wanted else {}
        return [Measurement(own, self._entity, float(counts[FIELDS[own]])) for own in wanted]
