"""Panels are placed from left to right, and a new line begins where one is full."""

from dashboards.grid import Place, place
from dashboards.spec import Dashboard, Panel, Section
from forewarn.language import Text


def panel(width: int, height: int) -> Panel:
    return Panel(kind="stat", title=Text("p"), width=width, height=height)


def places(*sections: Section) -> list[Place]:
    made = Dashboard("d", Text("d"), Text(), (), sections)
    return [where for _, where in place(made)]


def test_line_that_is_full_begins_a_new_one_below_the_highest() -> None:
    section = Section((panel(12, 4), panel(8, 6), panel(8, 5)))
    assert places(section) == [Place(0, 0, 12, 4), Place(12, 0, 8, 6), Place(0, 6, 8, 5)]


def test_heading_takes_a_line_of_its_own() -> None:
    below = Section((panel(24, 8),), Text("Heading"))
    found = places(Section((panel(24, 4),)), below)
    assert found == [Place(0, 0, 24, 4), Place(0, 4, 24, 1), Place(0, 5, 24, 8)]
