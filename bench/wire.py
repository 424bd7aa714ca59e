"""Frames to bytes and back: microseconds a frame, beside JSON of the same numbers."""

import json
import time
from collections.abc import Callable

import numpy as np

from bench.fleet import Fleet
from forewarn import wire

NODES, ROUNDS = 200, 10


def microseconds(work: Callable[[], object], calls: int) -> float:
    """Return the processor time of one call, the best of three runs."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return 1e6 * min(spent) / calls


def main() -> None:
    """Run all; every peer handles the same values."""
    fleet = Fleet(NODES)
    frames = list(fleet.frames(0)) * ROUNDS
    encoded = [wire.encode_frame(frame) for frame in frames]
    values = [np.frombuffer(frame.values, "<f8").tolist() for frame in frames]
    texts = [json.dumps(own) for own in values]
    layouts = wire.LayoutCache()
    count = len(frames)

    def decode() -> None:
        for data in encoded:
            frame = wire.decode_frame(data)
            wire.check_size(frame, len(layouts.get(frame.layout)))
            np.frombuffer(frame.values, "<f8")

    own_out = microseconds(lambda: [wire.encode_frame(frame) for frame in frames], count)
    own_in = microseconds(decode, count)
    peer_out = microseconds(lambda: [json.dumps(own) for own in values], count)
    peer_in = microseconds(lambda: [json.loads(text) for text in texts], count)
    width = fleet.width
    print(f"{width} positions a frame, {len(encoded[0])} bytes with the layout")
    print(f"encode {own_out:6.1f} us a frame; JSON {peer_out:6.1f} us: {peer_out / own_out:.1f} x")
    print(f"decode {own_in:6.1f} us a frame; JSON {peer_in:6.1f} us: {peer_in / own_in:.1f} x")
    print(f"decode {width / own_in:6.1f} M samples/s on one core")


if __name__ == "__main__":
    main()
