"""The label table of /metrics: each kind of an entity's path is one label, its name the value."""

from forewarn import entity as entities

# Kind of a path segment -> label; a kind that is not here is its own label.
LABELS = {
    "mount": "mountpoint",
    "op": "operation",
}


def labels(entity: str) -> dict[str, str]:
    """Return the labels of an entity: `{node: n7, nic: eth0, port: 1}`; names are decoded."""
    parts = entity.split("/")
    return {
        LABELS.get(kind, kind): entities.plain(name)
        for kind, name in zip(parts[::2], parts[1::2], strict=True)
    }
