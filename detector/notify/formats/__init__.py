"""How incidents are worded for each kind of receiver: one file each, and the table of them.

A format is pure: incident, what is told, when it is told, and links to bytes.
"""

from collections.abc import Callable, Mapping

import msgspec

from detector.notify.formats import alertmanager, generic
from detector.notify.formats.telling import Telling, Undelivered


class Format(msgspec.Struct, frozen=True):
    """Words a change of an incident, and a note that was lost on another channel."""

    telling: Callable[[Telling], bytes]
    undelivered: Callable[[Undelivered], bytes]


FORMATS: Mapping[str, Format] = {
    "generic": Format(generic.render, generic.undelivered),
    "alertmanager": Format(alertmanager.render, alertmanager.undelivered),
}

__all__ = ["FORMATS", "Format", "Telling", "Undelivered"]
