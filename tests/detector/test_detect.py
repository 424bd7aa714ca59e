"""The stage: findings on the bus before offsets are committed; a bus that fails is waited for."""

import shutil
import socket
import subprocess
import threading
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from detector import detect
from detector.detect import Stage
from forewarn import wire
from forewarn.bus import Consumer, Message, Producer
from forewarn.config import Detect, Settings
from forewarn.errors import BusError, ConfigError
from forewarn.memory import MemoryBus
from tests.detector.feed import event, frame

GPU = "node/n1/gpu/0000:1a:00.0"
SETTINGS = Settings(cluster="c", detect=Detect(listen="127.0.0.1:0"))


class FlakyBus(MemoryBus):
    """A bus that can be away."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False

    def append(self, topic, key, value, headers):
        if self.away and topic == "findings":
            raise BusError("nobody answers")
        super().append(topic, key, value, headers)


@pytest.fixture
def bus() -> FlakyBus:
    return FlakyBus()


def _findings(bus: MemoryBus) -> list[Message]:
    reader: Consumer = bus.consumer(("findings",), None, from_beginning=("findings",))
    return reader.poll(0.0)


def _happen(bus: MemoryBus, code: str = "nvidia.xid:79") -> None:
    producer: Producer = bus.producer()
    producer.publish("events", "n1", wire.encode_event(event(0, GPU, code)))


def _committed(bus: MemoryBus) -> int:
    return bus.committed.get((SETTINGS.detect.group, "events", 0), 0)


def test_event_becomes_a_finding_on_the_bus_keyed_by_its_entity(bus):
    stage = Stage(bus, SETTINGS, CollectorRegistry())
    _happen(bus)
    assert stage.step(0.0)
    (message,) = _findings(bus)
    assert message.key == GPU
    assert wire.decode_finding(message.value).code == "nvidia.xid:79"
    assert _committed(bus) == 1
    stage.close()


def test_offsets_are_not_committed_before_the_findings_are_out(bus, caplog):
    stage = Stage(bus, SETTINGS, CollectorRegistry())
    _happen(bus)
    bus.away = True
    assert not stage.step(0.0)
    assert not stage.step(0.0)
    assert _committed(bus) == 0
    assert sum("the bus fails" in r.message for r in caplog.records) == 1
    bus.away = False
    assert stage.step(0.0)
    assert len(_findings(bus)) == 1
    assert _committed(bus) == 1
    stage.close()


def test_close_sends_what_is_left(bus):
    stage = Stage(bus, SETTINGS, CollectorRegistry())
    _happen(bus)
    bus.away = True
    stage.step(0.0)
    bus.away = False
    stage.close()
    assert len(_findings(bus)) == 1
    assert _committed(bus) == 1


def _free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


def test_run_serves_metrics_finds_and_stops(bus):
    port = _free_port()
    settings = Settings(cluster="c", detect=Detect(listen=f"127.0.0.1:{port}"))
    stop, registry = threading.Event(), CollectorRegistry()
    thread = threading.Thread(target=detect.run, args=(bus, settings, stop, registry))
    thread.start()
    try:
        _happen(bus)
        reader = bus.consumer(("findings",), None, from_beginning=("findings",))
        assert reader.poll(30.0)
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()
    assert b'forewarn_findings_total{family="event",movement="event"} 1.0' in page
    _check_with_promtool(page)


def _check_with_promtool(page: bytes) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (tests/apt.txt)")
    done = subprocess.run([tool, "check", "metrics"], input=page, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


def test_taken_port_is_a_configuration_error(bus):
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        settings = Settings(detect=Detect(listen=f"127.0.0.1:{own.getsockname()[1]}"))
        with pytest.raises(ConfigError, match=r"detect\.listen"):
            detect.run(bus, settings, threading.Event(), CollectorRegistry())


def _frames(bus: MemoryBus, count: int) -> None:
    producer: Producer = bus.producer()
    for second in range(count):
        own = frame(second, {("node_cpu_utilization_ratio", "node/n1"): 0.2}, seq=second)
        producer.publish("frames", "n1", wire.encode_frame(own))


def test_only_agent_that_falls_silent_is_told_though_nothing_comes_any_more(bus):
    now = [0.0]
    stage = Stage(bus, SETTINGS, CollectorRegistry(), lambda: now[0])
    _frames(bus, 10)
    assert stage.step(0.0)
    for seconds in range(2, 60, 2):
        now[0] = float(seconds)
        assert stage.step(0.0)
        assert (_findings(bus) == []) == (seconds < 20)
    told = [wire.decode_finding(message.value) for message in _findings(bus)]
    assert {(own.entity, own.movement) for own in told} == {("node/n1/agent/main", "absent")}
    assert len({own.id for own in told}) == 1
    stage.close()
