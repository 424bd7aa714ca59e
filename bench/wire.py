"""Frames on the wire: what encoding and decoding one costs, beside the same frame as JSON."""

import math
import struct
import time
from collections.abc import Callable

import msgspec

from forewarn import entity, wire
from forewarn.catalogue import CATALOGUE
from forewarn.records import Frame, Layout

GPUS, ROUNDS, REPEATS = 8, 2000, 5


class Row(msgspec.Struct, frozen=True):
    """The peer's record: one reading with its names."""

    signal: str
    entity: str
    value: float


class Page(msgspec.Struct, frozen=True):
    """The peer's frame."""

    node: str
    time_unix_nano: int
    rows: tuple[Row, ...]


def layout() -> Layout:
    """Return the layout of a node: every metric of a GPU, on each of its GPUs."""
    signals = tuple(s.name for s in CATALOGUE.values() if s.entity == "gpu" and s.is_metric)
    entities = tuple(entity.path("node", "n7", "gpu", f"0000:{at:02x}:00.0") for at in range(GPUS))
    positions = [(s, e) for e in range(GPUS) for s in range(len(signals))]
    return Layout(signals, entities, tuple(s for s, _ in positions), tuple(e for _, e in positions))


def frame(own: Layout) -> Frame:
    """Return a frame of that layout."""
    values = [math.sqrt(position) for position in range(len(own))]
    return Frame(
        cluster="bench", node="n7", source="agent", seq=1, time_unix_nano=1_767_225_600 * 10**9,
        boot_id="6f1c1d2e", layout=wire.encode_layout(own),
        values=struct.pack(f"<{len(values)}d", *values),
    )  # fmt: skip


def microseconds(work: Callable[[], object]) -> float:
    """Return what one call costs: the best of a few rounds, since noise only adds."""
    best = math.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(ROUNDS):
            work()
        best = min(best, time.perf_counter() - begin)
    return best / ROUNDS * 1e6


def receive(data: bytes, cache: wire.LayoutCache) -> Layout:
    """Do what a receiver does with every frame before it looks at values."""
    own = wire.decode_frame(data)
    known = cache.get(own.layout)
    wire.check_size(own, len(known))
    return known


def main() -> None:
    """Print microseconds a frame, bytes a frame, and the ratio to the peer."""
    own = layout()
    sent = frame(own)
    rows = (Row(signal, at, math.sqrt(n)) for n, (signal, at) in enumerate(own.pairs()))
    page = Page(sent.node, sent.time_unix_nano, tuple(rows))
    data, peer = wire.encode_frame(sent), msgspec.json.encode(page)
    cache, decoder = wire.LayoutCache(), msgspec.json.Decoder(Page)
    ours = microseconds(lambda: wire.encode_frame(sent)), microseconds(lambda: receive(data, cache))
    theirs = (
        microseconds(lambda: msgspec.json.encode(page)),
        microseconds(lambda: decoder.decode(peer)),
    )
    fresh = microseconds(lambda: wire.decode_layout(sent.layout))
    print(f"one frame: {len(own)} readings; ours {len(data):,} bytes, JSON {len(peer):,} bytes")
    for name, mine, other in zip(("encode", "decode"), ours, theirs, strict=True):
        print(
            f"{name}: {mine:6.1f} us a frame; JSON {other:7.1f} us, {other / mine:.0f} times ours"
        )
    print(f"a layout seen for the first time: {fresh:.0f} us, once")


if __name__ == "__main__":
    main()
