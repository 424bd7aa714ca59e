"""Where a predicate is seen: the word `at` against the kinds of entity that may be meant by it."""

from typing import get_args

from runbooks.model import At

# The row's entity must be one of these: it is the place itself, or is gathered at it.
ROW_KINDS: dict[At, frozenset[str]] = {
    "gpu": frozenset({"gpu"}),
    "npu": frozenset({"gpu", "nic_port"}),
    "nic": frozenset({"nic_port"}),
    "switch": frozenset({"switch", "switch_port"}),
    "node": frozenset("node gpu nic_port pcie_switch disk mount psu agent".split()),
    "rack": frozenset("rack node gpu nic_port psu agent".split()),
    "storage": frozenset({"storage_target", "mount"}),
    "facility": frozenset({"facility", "cdu", "pdu", "cluster"}),
    "job": frozenset("job rank gpu nic_port queue serving_replica".split()),
    "rank": frozenset({"rank"}),
    "fleet": frozenset({"cluster", "job", "node", "gpu"}),
}
# The kinds of entity that are the place itself: what a cause with that word sits on.
OWN_KINDS: dict[At, frozenset[str]] = {
    "gpu": frozenset({"gpu", "mig"}),
    "npu": frozenset({"gpu"}),
    "nic": frozenset({"nic_port", "nic"}),
    "switch": frozenset({"switch", "switch_port"}),
    "node": frozenset({"node"}),
    "rack": frozenset({"rack"}),
    "storage": frozenset({"storage_target", "mount"}),
    "facility": frozenset({"facility", "cdu", "pdu", "cluster"}),
    "job": frozenset({"job"}),
    "rank": frozenset({"rank"}),
    "fleet": frozenset(),
}
_DEFAULT: dict[str, At] = {
    "gpu": "gpu", "nic_port": "nic", "switch": "switch", "switch_port": "switch",
    "storage_target": "storage", "rack": "rack", "cdu": "facility", "pdu": "facility",
    "facility": "facility", "cluster": "facility", "job": "job", "queue": "job",
    "serving_replica": "job", "rank": "rank",
}  # fmt: skip
AT_WORDS: tuple[At, ...] = get_args(At)


def default(row_entity: str) -> At:
    """Return the word for a row of the catalogue where an entry gives none: its own place."""
    return _DEFAULT.get(row_entity, "node")
