import pytest

from detector.incidents.crowd import CHANCE, chance, is_shared


@pytest.mark.parametrize(
    ("inside", "size", "everyone", "everywhere", "shared"),
    [
        (4, 8, 4, 512, True),  # half of a node
        (3, 8, 3, 512, True),  # three of one node among 64
        (3, 8, 3, 64, False),  # three of one node among eight
        (3, 32, 3, 512, False),  # three of one rack among 16
        (4, 32, 4, 512, True),
        (4, 32, 30, 512, False),  # as many elsewhere
        (16, 32, 16, 512, True),
        (16, 32, 200, 512, False),
        (512, 512, 512, 512, True),  # everything
        (200, 512, 200, 512, False),  # some of everything
        (2, 2, 2, 512, False),  # too few to say
        (3, 0, 3, 512, False),  # of which nothing is known
    ],
)
def test_parent_is_believed_where_chance_is_no_explanation(
    inside: int, size: int, everyone: int, everywhere: int, shared: bool
) -> None:
    assert is_shared(inside, size, everyone, everywhere) is shared


def test_chance_is_that_of_the_others_after_the_first() -> None:
    assert chance(3, 3, 0.25) == pytest.approx(1 / 16)
    assert chance(1, 5, 0.25) == pytest.approx(1.0)
    assert chance(2, 3, 0.5) == pytest.approx(3 / 4)
    assert chance(4, 4, 1 / 16) < CHANCE < chance(3, 3, 1 / 16)
