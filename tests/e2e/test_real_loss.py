"""Real loss on a real interface, and a real shortage of processors, each told as what it is."""

import os
import random
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exporters.collector import Host, Measurement
from exporters.host.pressure import Pressure
from tests.e2e.node import NODE, Node

# Datagrams of 1,200 bytes to both ends, 250 a second each: more than an MTU of 500 takes.
SEND = """
import socket, sys, time
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for address in sys.argv[1:]:
        for _ in range(5):
            own.sendto(bytes(1200), (address, 9))
    time.sleep(0.02)
"""
BURN = "while True: pass"
CPU, DROPS = "node_pressure_cpu_seconds_total", "nic_rx_drops_total"


def lacking() -> str:
    """Return why the test cannot run here; empty where it can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if shutil.which("ip") is None:
        return "no ip (iproute2)"
    tried = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skip where there are none, and say why; in continuous integration that is a failure."""
    if reason := lacking():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Pairs:
    """Two veth pairs between this namespace and another; all names are this run's own."""

    def __init__(self) -> None:
        run = uuid.uuid4().hex[:6]
        block = int(run, 16) % 64 * 4
        self.namespace = f"fw-{run}"
        self.lossy, self.sound = f"fwl{run}", f"fws{run}"
        self.addresses = [f"198.18.{block + n}.1" for n in (0, 1)]

    def names(self) -> tuple[str, str]:
        return self.lossy, self.sound

    def make(self) -> None:
        ip("netns", "add", self.namespace)
        for name, address in zip(self.names(), self.addresses, strict=True):
            far = f"{name}p"
            ip("link", "add", name, "type", "veth", "peer", "name", far, "netns", self.namespace)
            ip("address", "add", f"{address}/30", "dev", name)
            ip("link", "set", name, "up")
            ip("-n", self.namespace, "address", "add", f"{address[:-1]}2/30", "dev", far)
            ip("-n", self.namespace, "link", "set", far, "up")

    def sender(self) -> "subprocess.Popen[bytes]":
        """Start what sends to both of our ends from the other namespace."""
        command = ["ip", "netns", "exec", self.namespace, sys.executable, "-c", SEND]
        return subprocess.Popen([*command, *self.addresses])

    def remove(self) -> None:
        """Take the namespace away; the pairs go with it."""
        ip("netns", "delete", self.namespace)


@pytest.fixture
def pairs(namespaces: None) -> Iterator[Pairs]:
    own = Pairs()
    try:
        own.make()
        yield own
    finally:
        own.remove()


@contextmanager
def ended(*processes: "subprocess.Popen[bytes]") -> Iterator[None]:
    """End these processes after the block."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait(30)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Node]]:
    made: list[Node] = []

    def node(**own: object) -> Node:
        made.append(Node(tmp_path, **own))
        return made[-1]

    yield node
    for own in made:
        own.close()


def dropped(interface: str) -> int:
    return int(Path(f"/sys/class/net/{interface}/statistics/rx_dropped").read_text())


def port(interface: str) -> str:
    return f"node/{NODE}/nic/{interface}/port/1"


def test_real_loss_is_found_at_its_interface_and_nowhere_else(
    pairs: Pairs, make: Callable[..., Node]
) -> None:
    node = make(interfaces=(pairs.lossy, pairs.sound))
    # What is lossy from its first reading on is only held against itself: a port has a past.
    node.lived(1800, lambda ago: [Measurement(DROPS, port(n), 0.0) for n in pairs.names()])
    with node.running(), ended(pairs.sender()):
        ip("link", "set", pairs.lossy, "mtu", "500")
        node.until(lambda: [f for f in node.findings if f.entity == port(pairs.lossy)], 120)
        node.until(node.incidents, 30)
    found = {(f.signal, f.movement) for f in node.findings if f.entity == port(pairs.lossy)}
    assert found == {(DROPS, "grows")}
    assert [f for f in node.findings if f.entity == port(pairs.sound)] == []
    (incident,) = [own for own in node.incidents() if own.entity == port(pairs.lossy)]
    assert not [own for own in node.incidents() if pairs.sound in own.entity]
    assert dropped(pairs.lossy) > 1000
    assert dropped(pairs.sound) == 0
    assert incident.state == "open"


def calm(ago: int, now: float, chance: random.Random) -> list[Measurement]:
    """Return a reading of a node that waits for a processor a tenth of the time."""
    seconds = now - 0.1 * ago + chance.uniform(-0.02, 0.02)
    return [Measurement(CPU, f"node/{NODE}", seconds)]


def test_a_shortage_of_processors_is_pressure_of_the_host_and_no_fault_of_a_gpu(
    make: Callable[..., Node],
) -> None:
    (now,) = Pressure(Host(f"node/{NODE}")).read({CPU})
    chance, node = random.Random(1), make()
    node.lived(1800, lambda ago: calm(ago, now.value, chance))
    burners = [
        subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    with node.running(), ended(*burners):
        node.until(lambda: [f for f in node.findings if f.signal == CPU], 120)
        node.until(node.incidents, 30)
    (finding, *_) = [f for f in node.findings if f.signal == CPU]
    assert (finding.entity, finding.family) == (f"node/{NODE}", "band")
    assert finding.movement in {"up", "step_up"}
    assert finding.observed is not None
    assert finding.observed > 0.5  # of the time some task waits
    (incident,) = [own for own in node.incidents() if finding.id in {f.id for f in own.evidence}]
    assert incident.entity == f"node/{NODE}"
    assert not [f for f in node.findings if "/gpu/" in f.entity or f.signal.startswith("gpu")]
    causes = [cause.entry for own in node.incidents() for cause in own.hypotheses]
    assert not [cause for cause in causes if cause.startswith("GPU")]
