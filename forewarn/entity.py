"""Names of things: `kind/name(/kind/name)*`, as in `node/n7/gpu/0000:1a:00.0` or
`job/4711/rank/17`.

The slot is the identity; index, UUID and serial are inventory. A name is `[A-Za-z0-9._:-]{1,128}`;
anything else in it is percent-encoded.
"""

import hashlib
import re
from functools import lru_cache
from urllib.parse import quote, unquote

from forewarn.errors import EntityError

KINDS = frozenset(
    "agent branch cdu cluster device dimm disk facility fan gpu job lane link mig mount nic"
    " node op outlet pcie_switch pdu port priority psu queue rack rank role serving size "
    "storage_target switch".split()
)
# Path kinds spelled as one kind in the catalogue's column `entity`.
CATALOGUE_KINDS = {
    ("nic", "port"): "nic_port",
    ("switch", "port"): "switch_port",
    ("serving", "replica"): "serving_replica",
}
_NAME = re.compile(r"(?:[A-Za-z0-9._:-]|%[0-9A-F]{2}){1,128}")
_SAFE = "._:-"
MAX_NAME = 128


@lru_cache(maxsize=1 << 16)
def name(text: str) -> str:
    """Encode any text as the name of an entity, at most 128 characters.

    A longer one is cut and ends in a hash of the whole: two that begin alike stay two.
    """
    # A mount may be named in bytes that are no UTF-8; Python hands them on as lone surrogates.
    encoded = quote(text, safe=_SAFE, errors="backslashreplace").replace("~", "%7E")
    return encoded if 0 < len(encoded) <= MAX_NAME else _cut(encoded)


def _cut(encoded: str) -> str:
    if not encoded:
        return "%00"
    end = "." + hashlib.blake2b(encoded.encode(), digest_size=8).hexdigest()
    return re.sub(r"%[0-9A-F]?$", "", encoded[: MAX_NAME - len(end)]) + end


def plain(encoded: str) -> str:
    """Decode a name for people to read."""
    return unquote(encoded)


def shown(entity: str) -> str:
    """Decode an entity for a terminal; what would steer the terminal stays encoded."""
    return "".join(c if c.isprintable() else quote(c, safe="") for c in unquote(entity))


def path(*parts: str) -> str:
    """Join kinds and raw names: `path("node", "n7", "mount", "/var")`; names are encoded."""
    if not parts or len(parts) % 2:
        raise EntityError(f"an entity is pairs of kind and name, got {parts!r}")
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return check("/".join(f"{kind}/{name(raw)}" for kind, raw in pairs))


@lru_cache(maxsize=1 << 18)
def check(entity: str) -> str:
    """Return `entity` if it is well formed.

    Raises:
        EntityError: naming the part that is wrong.

    """
    parts = entity.split("/")
    if len(parts) % 2:
        raise EntityError(f"entity {entity!r}: expected kind/name pairs")
    for kind, own in zip(parts[::2], parts[1::2], strict=True):
        if kind not in KINDS and kind != "replica":
            raise EntityError(f"entity {entity!r}: unknown kind {kind!r}")
        if not _NAME.fullmatch(own):
            raise EntityError(f"entity {entity!r}: {own!r} is no name; percent-encode it")
    return entity


@lru_cache(maxsize=1 << 18)
def kind(entity: str) -> str:
    """Return the catalogue's kind: `gpu`, `nic_port`, `switch_port`, `rank` …"""
    parts = entity.split("/")
    own = parts[-2] if len(parts) > 1 else ""
    above = parts[-4] if len(parts) > 3 else ""
    return CATALOGUE_KINDS.get((above, own), own)


def parent(entity: str) -> str | None:
    """Return the entity above by name, or None for a root: a GPU's node, a rank's job."""
    parts = entity.split("/")
    return "/".join(parts[:-2]) if len(parts) > 2 else None


@lru_cache(maxsize=1 << 18)
def ancestors(entity: str) -> tuple[str, ...]:
    """Return all entities above by name, nearest first."""
    parts = entity.split("/")
    return tuple("/".join(parts[:end]) for end in range(len(parts) - 2, 0, -2))


def root(entity: str) -> str:
    """Return the outermost entity: `node/n7` for its GPU, `job/4711` for its rank."""
    return "/".join(entity.split("/")[:2])


def inside(entity: str, outer: str) -> bool:
    """Say whether `entity` is `outer` or stands below it."""
    return entity == outer or entity.startswith(outer + "/")


def last_name(entity: str) -> str:
    """Return the decoded last name: `0000:1a:00.0` of a GPU, `17` of a rank."""
    return plain(entity.rsplit("/", 1)[-1])
