"""The vocabulary: every signal once, checked when it is loaded.

`CATALOGUE` is the one instance; `signals.csv` beside this file is its source.
"""

from forewarn.catalogue.load import Catalogue, load
from forewarn.catalogue.movements import FAMILIES, MOVEMENTS, Family, Movement
from forewarn.catalogue.signal import UNKNOWN, Bad, Floor, Kind, Signal

CATALOGUE: Catalogue = load()

__all__ = [
    "CATALOGUE", "FAMILIES", "MOVEMENTS", "UNKNOWN", "Bad", "Catalogue", "Family", "Floor", "Kind",
    "Movement", "Signal", "load",
]  # fmt: skip
