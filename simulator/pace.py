"""How fast the machines let jobs go on in this second: what couples all layers to the steps."""

import msgspec

from simulator.fleet import Bools, Floats, Machines
from simulator.gpu import FULL_WIDTH, Gpus
from simulator.host import Hosts
from simulator.knobs import Knobs
from simulator.nic import Ports
from simulator.storage import Storages


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """By GPU and its port, except `storage`, which is by node.

    `speed` of computing, 1 is nominal; `exchange` is a factor on the time of communication,
    `copy` one on the copying of data; `data` the share of a step that a rank waits for data beyond
    the ordinary; `stalled` seconds lost while links retrain; `down` ports without a link;
    `storage` a factor on loading, `writing` one on checkpoints, by node too.
    """

    speed: Floats
    exchange: Floats
    copy: Floats
    data: Floats
    stalled: Floats
    down: Bools
    storage: Floats
    writing: Floats


class Strain(msgspec.Struct, frozen=True):
    """What ails a job as a whole.

    `starved` is the share of a step that all ranks wait for data, `slower` the share by which all
    compute longer, `stuck` says that one of them hangs.
    """

    starved: float = 0.0
    slower: float = 0.0
    stuck: bool = False


AT_REST = Strain()


def pace(
    machines: Machines, gpus: Gpus, ports: Ports, hosts: Hosts, storages: Storages, knobs: Knobs
) -> Pace:
    """Return what the machines allow."""
    return Pace(
        speed=gpus.speed() * machines.spread(hosts.launch()),
        exchange=gpus.exchange() * ports.slowdown(),
        copy=FULL_WIDTH / gpus.width,
        data=knobs.loader + machines.spread(storages.waiting()),
        stalled=ports.stalled,
        down=ports.down,
        storage=storages.slowdown(),
        writing=storages.writing(),
    )
