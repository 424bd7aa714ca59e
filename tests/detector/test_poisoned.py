"""What befalls readings in real life, while detect runs: no flood then, and no blindness after."""

import pytest

from tests.detector.families.test_context import CORE, GPUS, POWER, Room

FLOOD = 8  # findings of a disturbance that touches all eight devices


class Disturbed(Room):
    """A room whose readings pass through a change that can be taken away again."""

    def __init__(self) -> None:
        super().__init__()
        self.change = dict
        sound = self.bench.one
        self.bench.one = lambda now, values: sound(now, self.change(values))


def _scaled(values):
    return {(name, gpu): 1000 * v if name == POWER else v for (name, gpu), v in values.items()}


def _not_a_number(values):
    return dict.fromkeys(values, float("nan"))


def _constant(values):
    return {(name, gpu): 65.0 if name == CORE else v for (name, gpu), v in values.items()}


def _renamed(values):
    return {(name, gpu.replace(GPUS[1], "node/n1/gpu/0000:99:00.0")): v
            for (name, gpu), v in values.items()}  # fmt: skip


def _absent(values):
    return {key: v for key, v in values.items() if key[0] == POWER}


@pytest.mark.parametrize("change", [_scaled, _not_a_number, _constant, _renamed, _absent])
def test_disturbance_neither_floods_nor_blinds(change):
    room = Disturbed()
    room.cycle(8)
    room.change = change
    during = {f.id for f in room.cycle(3)}
    room.change = dict
    room.cycle(3)
    found = room.cycle(2, 1.8)
    assert len(during) <= FLOOD
    assert {f.entity for f in found if f.signal == CORE and f.family == "context"} == {GPUS[3]}


def test_hours_that_are_missing_neither_flood_nor_blind():
    room = Room()
    room.cycle(8)
    room.now += 8 * 3600
    assert [f for f in room.cycle(7) if f.family in {"band", "context"}] == []
    found = room.cycle(2, 1.8)
    assert {f.entity for f in found if f.signal == CORE and f.family == "context"} == {GPUS[3]}
