"""Nodes as senders: up or down, boot id, agent clock, and the sequence of each source."""

import hashlib
from collections import defaultdict

import numpy as np

from forewarn.records import NANOSECONDS
from simulator.fleet import Bools, Floats
from simulator.seeds import generator

AGENT_LATE_SECONDS = 0.004  # at most: an agent wakes a little after the second


class Nodes:
    """What frames and events need to know of the nodes that send them."""

    def __init__(
        self, names: tuple[str, ...], start_unix_nano: int, seed: int, component: str = "nodes"
    ) -> None:
        count = len(names)
        self._start, self._seed, self._names = start_unix_nano, seed, names
        late = generator(seed, f"{component}.late").uniform(0, AGENT_LATE_SECONDS, count)
        self._late: Floats = late
        self.offset: Floats = np.zeros(count)
        self.up: Bools = np.ones(count, dtype=bool)
        self.started = [0] * count
        self._boots = [0] * count
        self.boot_id = [self._boot(node) for node in range(count)]
        self._seq: dict[tuple[int, str], int] = defaultdict(int)

    def next_seq(self, node: int, source: str) -> int:
        """Return the next sequence number of a source of a node."""
        self._seq[node, source] += 1
        return self._seq[node, source]

    def clock(self, node: int, second: float) -> int:
        """Return what the node's clock shows shortly after `second` of the run, in Unix ns."""
        seconds = second + float(self._late[node]) + float(self.offset[node])
        return self._start + round(seconds * NANOSECONDS)

    def go_down(self, node: int) -> None:
        """Let the node fall silent."""
        self.up[node] = False

    def come_up(self, node: int, second: int) -> None:
        """Boot the node: a new boot id, all sequences from the start."""
        self.up[node] = True
        self.started[node] = second
        self._boots[node] += 1
        self.boot_id[node] = self._boot(node)
        for key in [own for own in self._seq if own[0] == node]:
            del self._seq[key]

    def _boot(self, node: int) -> str:
        text = f"{self._seed}/{self._names[node]}/{self._boots[node]}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
