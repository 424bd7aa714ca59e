import random

from forewarn.bus import Message
from forewarn.kafka.merge import HELD_BYTES, Merge


def message(partition: int, offset: int, time: int, size: int = 1) -> Message:
    return Message("frames", "n", bytes(size), partition, offset, time)


def times(messages: list[Message]) -> list[int]:
    return [own.append_time_unix_nano for own in messages]


def test_take_orders_partitions_by_append_time() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, 0, 10), message(0, 1, 30)])
    merge.add(1, [message(1, 0, 20), message(1, 1, 40)])
    assert times(merge.take(10, behind=())) == [10, 20, 30, 40]
    assert len(merge) == 0


def test_take_waits_for_a_partition_that_is_behind() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, 0, 10), message(0, 1, 30)])
    assert merge.take(10, behind=[1]) == []
    merge.add(1, [message(1, 0, 20)])
    assert times(merge.take(10, behind=[1])) == [10, 20]
    assert times(merge.take(10, behind=())) == [30]


def test_take_gives_at_most_the_limit_and_tells_what_is_held() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, n, n) for n in range(5)])
    assert times(merge.take(2, behind=())) == [0, 1]
    assert merge.next_offset(0) == 2
    assert merge.next_offset(1) is None


def test_partition_read_again_replaces_what_is_held() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, 5, 1), message(0, 6, 2)])
    merge.add(0, [message(0, 4, 0), message(0, 5, 1)])
    assert [own.offset for own in merge.take(10, behind=())] == [4, 5]


def test_partition_that_left_is_forgotten() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, 0, 1)])
    merge.add(1, [message(1, 0, 2)])
    merge.keep({1})
    assert times(merge.take(10, behind=())) == [2]


def test_full_partitions_are_named_until_they_are_taken() -> None:
    merge: Merge[int] = Merge()
    merge.add(0, [message(0, 0, 1, HELD_BYTES)])
    merge.add(1, [message(1, 0, 2)])
    assert merge.full() == {0}
    merge.take(1, behind=())
    assert merge.full() == set()


def test_any_batches_give_the_same_order() -> None:
    chance = random.Random(2)
    logs = {
        at: [message(at, n, t) for n, t in enumerate(sorted(chance.sample(range(1000), 50)))]
        for at in range(4)
    }
    for _ in range(20):
        merge: Merge[int] = Merge()
        left = {at: list(log) for at, log in logs.items()}
        found: list[Message] = []
        while len(found) < 200:
            if ready := [at for at, log in left.items() if log]:
                at = chance.choice(ready)
                count = chance.randint(1, 20)
                merge.add(at, left[at][:count])
                del left[at][:count]
            found += merge.take(chance.randint(1, 30), [at for at, log in left.items() if log])
        assert times(found) == sorted(times(found))
