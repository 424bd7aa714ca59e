"""What stands beside the nodes, who reads it and what it hangs on."""

from collections import defaultdict

from forewarn import entity as entities
from forewarn.records import InventoryItem
from simulator import signals
from simulator.announce import rack_attributes
from simulator.fleet import Machines
from simulator.power import supplies

Block = tuple[tuple[str, ...], list[str]]  # signals, and the entities that have them all
BUILDING, POWER, FABRIC, STORAGE = range(4)
NAMES = ("mgmt-1", "mgmt-2", "mgmt-3", "mgmt-4")
SOURCES = ("bms", "power", "fabric", "storage")


class Plant:
    """The blocks of signals and entities that each gateway reads, and their inventory."""

    def __init__(self, machines: Machines, switch_ports: list[str]) -> None:
        self._machines, self._switch_ports = machines, switch_ports
        self.beat = machines.beat
        racks = [f"rack/{name}" for name in machines.racks]
        building: list[Block] = [
            (signals.RACK_AIR_SIGNALS, racks),
            (signals.ROOM_SIGNALS, [f"facility/{name}" for name in machines.rooms]),
        ]
        if machines.liquid:
            building.append((signals.CDU_SIGNALS, [f"cdu/{name}" for name in machines.loops]))
            building.append((signals.RACK_COOLANT_SIGNALS, racks))
        feeds = [f"pdu/{name}" for name in machines.feeds]
        switches = [f"switch/{name}" for name in machines.switches]
        storages = [f"storage_target/{name}" for name in machines.storages]
        self.core: tuple[list[Block], ...] = (
            building,
            [(signals.RACK_POWER_SIGNALS, racks), (signals.FEED_SIGNALS, feeds)],
            [(signals.SWITCH_SIGNALS, switches), (signals.SWITCH_PORT_SIGNALS, switch_ports)],
            [(signals.STORAGE_SIGNALS, storages)],
        )
        more: tuple[list[Block], ...] = (
            [(signals.RACK_COOLANT_MORE_SIGNALS, racks)] if machines.liquid else [],
            [],
            [(signals.SWITCH_PORT_MORE_SIGNALS, switch_ports)],
            [(signals.STORAGE_MORE_SIGNALS, storages)],
        )
        self.blocks = tuple(core + behind for core, behind in zip(self.core, more, strict=True))

    def items(self, cluster: str, now: int) -> list[InventoryItem]:
        """Return an item for everything that gateways read, with all that read it."""
        collects: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for source, blocks in zip(SOURCES, self.blocks, strict=True):
            for names, members in blocks:
                for entity in members:
                    own = collects[entity]
                    own[source] = own.get(source, ()) + names
        for entity in self._switch_ports:
            collects[entity][SOURCES[FABRIC]] += signals.SWITCH_PORT_EVENTS
        for name in self._machines.switches:
            collects[f"switch/{name}"][SOURCES[FABRIC]] += signals.SWITCH_EVENTS
        for name in self._machines.storages:
            collects[f"storage_target/{name}"][SOURCES[STORAGE]] += signals.STORAGE_EVENTS
        for rack, count in enumerate(supplies(self._machines)):
            for number in range(1, int(count) + 1):
                entity = supply(self._machines, rack, number)
                collects[entity][SOURCES[POWER]] = signals.SUPPLY_EVENTS
        attributes = self._attributes()
        return [
            InventoryItem(cluster, entity, now, attributes.get(entity, {}), own)
            for entity, own in collects.items()
        ]

    def _attributes(self) -> dict[str, dict[str, str]]:
        machines, out = self._machines, {}
        first = [int(machines.nodes_in(rack)[0]) for rack in range(len(machines.racks))]
        for rack, name in enumerate(machines.racks):
            own = rack_attributes(machines, rack)
            del own["rack"]
            out[f"rack/{name}"] = own | {"model": machines.models[first[rack]].node_model + " rack"}
            place = {"rack": name, "room": own["room"]}
            out[f"switch/{machines.switches[rack]}"] = place | {"model": "leaf 64x400G"}
        for number, name in enumerate(machines.loops):
            rack = int((machines.loop_of == number).argmax())
            out[f"cdu/{name}"] = {"room": machines.rooms[machines.room_of[rack]]}
        for port, entity in enumerate(machines.ports):
            out[machines.switch_port(port)] = {"peer": entity, "role": "node"}
        for entity in self._switch_ports[len(machines.ports) :]:
            out[entity] = {"role": "uplink"}
        return out


def supply(machines: Machines, rack: int, number: int) -> str:
    """Return the entity of a supply unit of a rack; numbers begin at 1."""
    return entities.path("rack", machines.racks[rack], "psu", str(number))
