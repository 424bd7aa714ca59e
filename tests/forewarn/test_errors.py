"""Errors: the tree that is drawn is the one that is there."""

import inspect
import re

import forewarn.errors as module
from forewarn.errors import ForewarnError, WireError


def classes() -> dict[str, type[ForewarnError]]:
    return dict(inspect.getmembers(module, inspect.isclass))


def test_every_class_stands_in_the_drawn_tree() -> None:
    drawn = re.findall(r"^[│\s├└─]*(\w+Error)\b", module.__doc__ or "", re.MULTILINE)
    assert set(drawn) == set(classes())


def test_drawn_branch_is_the_base() -> None:
    below_catalogue = re.findall(r"^│\s+└── (\w+)", module.__doc__ or "", re.MULTILINE)
    assert below_catalogue == ["UnknownSignalError"]
    assert issubclass(classes()["UnknownSignalError"], module.CatalogueError)
    assert all(issubclass(each, ForewarnError) for each in classes().values())


def test_wrong_settings_and_entries_end_with_two() -> None:
    twos = {name for name, each in classes().items() if each.exit_code == 2}
    assert twos == {"ConfigError", "EntryError"}


def test_wire_error_has_its_reason_beside_the_message() -> None:
    error = WireError("truncated", "Frame: cut")
    assert (error.reason, str(error)) == ("truncated", "Frame: cut")
