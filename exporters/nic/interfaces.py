"""Network ports: traffic, errors, congestion, link state and speed."""

import time
from collections.abc import Callable, Container, Iterator
from typing import ClassVar

from exporters.collector import Host, Measurement, Notice
from exporters.nic import link
from exporters.nic.counters import Answer, Counters, measurement, number
from exporters.nic.ethtool import Ethtool
from exporters.nic.ports import Port, ports
from exporters.nic.sources import SOURCES
from forewarn.records import Outcome

_UP = "nic_link_up"
_SPEED = "nic_link_speed_bytes_per_second"
_HIGHEST = "nic_link_speed_max_bytes_per_second"
_SHARE = "nic_utilization_ratio"
_RX, _TX = "nic_rx_bytes_total", "nic_tx_bytes_total"


class Interfaces:
    """Reads one small file a counter, and the driver's statistics where those are asked for."""

    name = "interfaces"
    signals = (*SOURCES, _UP, _SPEED, _HIGHEST, _SHARE)
    deadline_seconds = 2.0
    events: ClassVar[dict[str, str]] = {_UP: "nic.link_state"}

    def __init__(
        self,
        host: Host,
        ethtool: Ethtool | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host, self._monotonic = host, monotonic
        self._net = host.sys / "class/net"
        self._ethtool = ethtool or Ethtool()
        self._states, self._used = link.LinkStates(), link.Utilization()
        self._notices: list[Notice] = []

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read all ports that somebody has brought up."""
        return [m for port in ports(self._host) for m in self._port(port, due)]

    def notices(self) -> list[Notice]:
        """Return the changes of link state that the last reading showed."""
        seen, self._notices = self._notices, []
        return seen

    def _port(self, port: Port, due: Container[str]) -> Iterator[Measurement]:
        counters = Counters(port, self._net, self._ethtool)
        found = {signal: counters.measure(signal) for signal in SOURCES if signal in due}
        yield from found.values()
        state = link.state(port, self._net)
        if _UP in due:
            self._watch(port, state)
        speed = link.speed(port, self._net, state)
        answers: dict[str, Callable[[], Answer]] = {
            _UP: lambda: link.is_up(state),
            _SPEED: lambda: speed,
            _HIGHEST: lambda: link.highest(port, self._ethtool),
            _SHARE: lambda: self._share(port, found, speed),
        }
        for signal, ask in answers.items():
            if signal in due:
                yield measurement(signal, port.entity, ask())

    def _watch(self, port: Port, state: str) -> None:
        changes: Answer = Outcome.UNSUPPORTED
        if port.interface:
            changes = number(self._net / port.interface / "carrier_changes")
        self._notices += self._states.see(port.entity, state, changes)

    def _share(self, port: Port, found: dict[str, Measurement], speed: Answer) -> Answer:
        rx, tx = found.get(_RX), found.get(_TX)
        if rx is None or tx is None:
            return Outcome.NOT_DUE
        if rx.outcome or tx.outcome:
            return max(rx.outcome, tx.outcome)
        return self._used.of(port.entity, self._monotonic(), rx.value, tx.value, speed)
