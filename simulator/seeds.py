"""Random numbers by component: adding a component does not shift those of the others."""

import zlib

import numpy as np


def generator(seed: int, component: str) -> np.random.Generator:
    """Return the generator of one component, fixed by the seed and the component's name."""
    return np.random.default_rng(np.random.SeedSequence((seed, zlib.crc32(component.encode()))))
