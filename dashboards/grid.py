"""Places panels on Grafana's grid of 24 columns: left to right, a new line where one is full."""

from collections.abc import Iterator

import msgspec

from dashboards.spec import Dashboard, Panel
from forewarn.language import Text

COLUMNS, HEADING = 24, 1


class Place(msgspec.Struct, frozen=True):
    """Where a panel stands and how large it is, in cells of the grid."""

    x: int
    y: int
    width: int
    height: int


def place(dashboard: Dashboard) -> Iterator[tuple[Panel | Text, Place]]:
    """Yield every heading and panel with its place, from top to bottom."""
    bottom = 0
    for section in dashboard.sections:
        if section.title.en:
            yield section.title, Place(0, bottom, COLUMNS, HEADING)
            bottom += HEADING
        x, y = 0, bottom
        for panel in section.panels:
            if x + panel.width > COLUMNS:
                x, y = 0, bottom
            yield panel, Place(x, y, panel.width, panel.height)
            x, bottom = x + panel.width, max(bottom, y + panel.height)
