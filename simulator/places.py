"""Where every entity that a fault may name stands in the arrays, by its kind."""

from simulator.fleet import Machines
from simulator.scenario import Job
from simulator.step import Ranks

Places = dict[str, dict[str, int]]


def places(machines: Machines, jobs: tuple[Job, ...]) -> Places:
    """Return index by entity by kind; a rank stands where its GPU does, a mount where its node."""
    names = {
        "gpu": machines.gpus,
        "nic_port": machines.ports,
        "node": machines.nodes,
        "mount": machines.local_mounts,
        "rack": [f"rack/{name}" for name in machines.racks],
        "switch": [f"switch/{name}" for name in machines.switches],
        "cdu": [f"cdu/{name}" for name in machines.loops],
        "facility": [f"facility/{name}" for name in machines.rooms],
        "storage_target": [f"storage_target/{name}" for name in machines.storages],
        "pdu": [f"pdu/{name}" for name in machines.feeds],
        "job": [f"job/{job.name}" for job in jobs],
    }
    out = {kind: {name: i for i, name in enumerate(own)} for kind, own in names.items()}
    out["rank"] = {}
    for job in jobs:
        for rank, gpu in enumerate(Ranks(job, machines).gpus):
            out["rank"][f"job/{job.name}/rank/{rank}"] = int(gpu)
    return out
