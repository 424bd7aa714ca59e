"""How long to wait before the next attempt: exponential, with full jitter.

Full jitter (a uniform draw from zero to the exponential bound) spreads the attempts of many
senders best; see "Exponential Backoff And Jitter", M. Brooker, AWS, 2015.
"""

import random

BASE_SECONDS = 1.0
CAP_SECONDS = 300.0
MAX_AGE_SECONDS = 24 * 3600.0  # then a note is a dead letter


def delay_seconds(attempts: int, random_source: random.Random) -> float:
    """Return the wait after `attempts` failed ones (from 1)."""
    bound = min(CAP_SECONDS, BASE_SECONDS * 2.0 ** min(attempts, 30))
    return random_source.uniform(0.0, bound)
