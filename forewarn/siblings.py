"""Guards the root packages: `exporters` or `detector` of another distribution may shadow ours.

Ours stand beside `forewarn` on disk; one that is found elsewhere on the path is a stranger.
"""

import importlib.util
from pathlib import Path

import msgspec

PACKAGES = ("forewarn", "exporters", "simulator", "detector", "runbooks", "dashboards")


class Shadowed(msgspec.Struct, frozen=True):
    """A root package that is not ours: where `import` finds it, and where ours should be.

    `found` is empty where it is not found at all, or only as a folder without `__init__.py`
    (what another distribution leaves behind when it is uninstalled).
    """

    package: str
    found: str
    expected: str


def shadowed() -> tuple[Shadowed, ...]:
    """Return the root packages that `import` takes from somewhere else; nothing is imported."""
    home = Path(__file__).resolve().parent.parent
    wanted = {package: home / package / "__init__.py" for package in PACKAGES}
    return tuple(
        Shadowed(package, found, str(path))
        for package, path in wanted.items()
        if (found := _found(package)) != str(path)
    )


def _found(package: str) -> str:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return ""
    return str(Path(spec.origin).resolve())
