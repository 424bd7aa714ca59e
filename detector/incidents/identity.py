"""Names of incidents: a stable key, and an id that a replay makes again."""

import hashlib

from ulid import ULID

_NANOSECONDS_PER_MILLISECOND = 1_000_000


def key_of(entity: str, kind: str) -> str:
    """Return the stable key of what is wrong where: 16 hex digits of a hash."""
    return hashlib.sha256(f"{entity}\n{kind}".encode()).hexdigest()[:16]


def id_of(cluster: str, key: str, generation: int, first_evidence_unix_nano: int) -> str:
    """Return a ULID: 48 bits of time, 80 bits of the hash of cluster, key and generation."""
    milliseconds = first_evidence_unix_nano // _NANOSECONDS_PER_MILLISECOND
    digest = hashlib.sha256(f"{cluster}\n{key}\n{generation}".encode()).digest()
    return str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + digest[:10]))
