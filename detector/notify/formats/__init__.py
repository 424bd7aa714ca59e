"""How incidents are worded for each kind of receiver: one file each, and the table of them.

A format is pure: incident, what is told, when it is told, and links to bytes.
"""

from collections.abc import Callable, Mapping

from detector.notify.formats import generic
from detector.notify.formats.telling import Telling

Format = Callable[[Telling], bytes]
FORMATS: Mapping[str, Format] = {"generic": generic.render}

__all__ = ["FORMATS", "Format", "Telling"]
