"""Optical modules: temperature, voltage and light, from the module's own memory (`ethtool -m`)."""

from collections.abc import Callable, Container, Iterator
from typing import Protocol

import msgspec

from exporters.collector import Host, Measurement, unsupported
from exporters.nic.counters import measurement, refusal
from exporters.nic.ethtool import Ethtool
from exporters.nic.ports import ports
from forewarn.records import Outcome

_TEMPERATURE, _VOLTAGE = "nic_optical_temperature_celsius", "nic_optical_voltage_volts"
_TX, _RX = "nic_optical_tx_power_watts", "nic_optical_rx_power_watts"
_ALARM = "nic_optical_rx_power_alarm_watts"
# Units of SFF-8472, SFF-8636 and CMIS alike: 1/256 degree, 100 microvolt, 0.1 microwatt.
_DEGREE, _VOLT, _WATT = 1 / 256, 1e-4, 1e-7


class Optic(msgspec.Struct, frozen=True):
    """What a module says; None or empty where it does not measure. Lanes in their order."""

    celsius: float | None = None
    volts: float | None = None
    tx_watts: tuple[float, ...] = ()
    rx_watts: tuple[float, ...] = ()
    alarm_watts: float | None = None


def parse(memory: bytes) -> Optic:
    """Read a module's memory as the kernel lays it out; a kind that is not known says nothing.

    Byte 0 names the kind (SFF-8024, identifier values).
    """
    reader = _KINDS.get(memory[0]) if memory else None
    return reader(memory) if reader else Optic()


def _sfp(memory: bytes) -> Optic:
    """SFF-8472: address A2h follows at 256. Byte 92: bit 6 measures, bit 4 is not calibrated."""
    if len(memory) < 512 or not memory[92] & 0x40 or memory[92] & 0x10:
        return Optic()
    own = memory[256:]
    return Optic(
        _signed(own, 96) * _DEGREE,
        _word(own, 98) * _VOLT,
        (_word(own, 102) * _WATT,),
        (_word(own, 104) * _WATT,),
        _word(own, 34) * _WATT,
    )


def _qsfp(memory: bytes) -> Optic:
    """SFF-8636: monitors in the lower page, thresholds in page 03h, which lies at 512.

    A copper cable has all monitors at 0.
    """
    if len(memory) < 256 or not any(memory[22:28]):
        return Optic()
    return Optic(
        _signed(memory, 22) * _DEGREE,
        _word(memory, 26) * _VOLT,
        _lanes(memory, 50),
        _lanes(memory, 34),
        _word(memory, 562) * _WATT if len(memory) >= 640 and _word(memory, 562) else None,
    )


def _cmis(memory: bytes) -> Optic:
    """CMIS: the lanes are on page 11h, which this way of asking does not reach."""
    if len(memory) < 128 or not any(memory[14:18]):
        return Optic()
    return Optic(_signed(memory, 14) * _DEGREE, _word(memory, 16) * _VOLT)


_KINDS: dict[int, Callable[[bytes], Optic]] = {
    0x03: _sfp, 0x0C: _qsfp, 0x0D: _qsfp, 0x11: _qsfp,
    0x18: _cmis, 0x19: _cmis, 0x1E: _cmis,
}  # fmt: skip


def _word(memory: bytes, at: int) -> int:
    return int.from_bytes(memory[at : at + 2], "big")


def _signed(memory: bytes, at: int) -> int:
    return int.from_bytes(memory[at : at + 2], "big", signed=True)


def _lanes(memory: bytes, at: int) -> tuple[float, ...]:
    watts = tuple(_word(memory, at + 2 * lane) * _WATT for lane in range(4))
    return watts if any(watts) else ()


class Module(Protocol):
    """Who is asked for a module's memory."""

    def module(self, interface: str) -> tuple[int, bytes]:
        """Return kind and memory. Raises OSError."""


class Optics:
    """Reads the module of each port, over a slow bus of the adapter: once a minute."""

    name = "optics"
    signals = (_TEMPERATURE, _VOLTAGE, _TX, _RX, _ALARM)
    deadline_seconds = 10.0

    def __init__(self, host: Host, ethtool: Module | None = None) -> None:
        self._host, self._ethtool = host, ethtool or Ethtool()

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read all modules; light is measured for each lane, at `…/port/1/lane/1`."""
        found = [m for port in ports(self._host) for m in self._port(port.entity, port.interface)]
        return [m for m in found if m.signal in due]

    def _port(self, entity: str, interface: str) -> Iterator[Measurement]:
        if not interface:
            return self._without(entity, Outcome.UNSUPPORTED)
        try:
            _, memory = self._ethtool.module(interface)
        except OSError as error:
            return self._without(entity, refusal(error))
        return _measurements(entity, parse(memory))

    def _without(self, entity: str, outcome: Outcome) -> Iterator[Measurement]:
        return (measurement(signal, entity, outcome) for signal in self.signals)


def _measurements(entity: str, optic: Optic) -> Iterator[Measurement]:
    for signal, value in ((_TEMPERATURE, optic.celsius), (_VOLTAGE, optic.volts)):
        yield unsupported(signal, entity) if value is None else Measurement(signal, entity, value)
    # The alarm is one for the module; it stands beside each lane that it is held against.
    alarms = () if optic.alarm_watts is None else (optic.alarm_watts,) * len(optic.rx_watts)
    for signal, watts in ((_TX, optic.tx_watts), (_RX, optic.rx_watts), (_ALARM, alarms)):
        if not watts:
            yield unsupported(signal, entity)
        for lane, value in enumerate(watts, start=1):
            yield Measurement(signal, f"{entity}/lane/{lane}" if len(watts) > 1 else entity, value)
