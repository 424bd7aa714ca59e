"""Measurements become a frame: layout bytes made once, values written by `array`."""

import sys
from array import array
from collections import defaultdict
from collections.abc import Sequence

from exporters.collector import Measurement
from forewarn import wire
from forewarn.records import Frame, Layout, Outcome

Keys = tuple[tuple[str, str], ...]
_LAYOUTS = 256  # a node has one layout for each set of collectors that are due together


def layout(keys: Keys) -> Layout:
    """Return the layout of (signal, entity) pairs, each name once, in the order of first sight."""
    signals = {signal: index for index, signal in enumerate(dict.fromkeys(s for s, _ in keys))}
    entities = {entity: index for index, entity in enumerate(dict.fromkeys(e for _, e in keys))}
    return Layout(
        tuple(signals),
        tuple(entities),
        tuple(signals[signal] for signal, _ in keys),
        tuple(entities[entity] for _, entity in keys),
    )


class Framer:
    """Makes the frames of one node.

    A frame holds the collectors that were due, and no others: its layout is the one of that set.
    Signals of one second, ten seconds and a minute make three sets a node, so receivers see three
    layouts and no position that says nothing; one layout of everything would send the slow
    signals 60 times as NOT_DUE. `seq` counts per source.
    """

    def __init__(self, cluster: str, node: str, boot_id: str) -> None:
        self._cluster, self._node, self._boot_id = cluster, node, boot_id
        self._layouts: dict[Keys, bytes] = {}
        self._seq: defaultdict[str, int] = defaultdict(int)

    def frame(self, source: str, time_unix_nano: int, measurements: Sequence[Measurement]) -> Frame:
        """Make the next frame of `source`, read from `time_unix_nano` on."""
        self._seq[source] += 1
        values = array("d", [m.value for m in measurements])
        if sys.byteorder == "big":
            values.byteswap()
        outcomes = bytes([m.outcome for m in measurements])
        return Frame(
            self._cluster,
            self._node,
            source,
            self._seq[source],
            time_unix_nano,
            self._boot_id,
            self._layout(tuple([(m.signal, m.entity) for m in measurements])),
            values.tobytes(),
            outcomes if outcomes.strip(bytes([Outcome.OK])) else b"",
        )

    def _layout(self, keys: Keys) -> bytes:
        known = self._layouts.get(keys)
        if known is None:
            if len(self._layouts) >= _LAYOUTS:
                self._layouts.clear()
            known = self._layouts[keys] = wire.encode_layout(layout(keys))
        return known
