"""What the agents of the cluster sent in one simulated second."""

import msgspec

from forewarn.records import Event, Frame, InventoryItem


class Instant(msgspec.Struct, frozen=True):
    """What was sent in one simulated second, each list in the order of time."""

    time_unix_nano: int
    frames: list[Frame]
    job_frames: list[Frame]
    events: list[Event]
    inventory: list[InventoryItem]
