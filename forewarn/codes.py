"""Codes of events: `namespace:code`, with a sub-code after a slash: `nvidia.xid:149/nvldl/4`.

Codes are text (leading zeros count) and are compared without regard to case.
"""

from forewarn.errors import ForewarnError

# Other spellings of a namespace, as people and vendor pages write them.
SPELLINGS = {
    "xid": "nvidia.xid",
    "sxid": "nvidia.sxid",
    "afid": "amd.afid",
    "slurm": "slurm.node_state",
    "slurm.node": "slurm.node_state",
    "ascend": "ascend.fault_code",
    "cambricon": "cambricon.incident",
    "dcgm": "dcgm.error",
    "redfish": "redfish.leak",
    "sel": "bmc.sel",
}
# Codes of job.log_event that begin with one of these live in a namespace of their own.
SPLIT = {"nccl_": "nccl.error", "cuda_": "cuda.error", "hccl_": "hccl.error"}


def normal(code: str) -> str:
    """Return the one spelling of a code: known namespace, lower case.

    Raises:
        ForewarnError: if there is no `namespace:code`.

    """
    namespace, _, own = (part.strip() for part in code.lower().partition(":"))
    if not namespace or not own:
        raise ForewarnError(f"code {code!r}: expected namespace:code, as in nvidia.xid:79")
    namespace = SPELLINGS.get(namespace, namespace)
    if namespace == "job.log_event":
        for prefix, target in SPLIT.items():
            if own.startswith(prefix) and own != prefix:
                return f"{target}:{own.removeprefix(prefix)}"
    return f"{namespace}:{own}"


def namespace(code: str) -> str:
    """Return the part before the colon: the name of the catalogue's event row."""
    return code.partition(":")[0]


def matches(pattern: str, code: str) -> bool:
    """Say whether `code` is meant by `pattern`; `ns:any` means every code of the namespace.

    A pattern without a sub-code means every sub-code: `nvidia.xid:149` matches `nvidia.xid:149/x`.
    """
    wanted, got = pattern.lower(), code.lower()
    space, _, own = wanted.partition(":")
    if own in {"", "any"}:
        return namespace(got) == space
    return got == wanted or got.startswith(wanted + "/")
