"""The house rules that no linter knows: sizes, names, what must not be written anywhere."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from forewarn.siblings import PACKAGES

ROOT = Path(__file__).parent.parent
LISTED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
).stdout.split("\0")
FILES = [ROOT / name for name in LISTED if name and (ROOT / name).is_file()]
GENERATED = {"wire_pb2.py", "wire_pb2.pyi"}
CODE = [path for path in FILES if path.suffix == ".py" and path.name not in GENERATED]
CAPTURED = {"fixtures", "data"}  # raw input is as long as it was captured
MOST_LINES = 400
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
# Where packages come from is each site's own business, and never stands in the repository.
HOSTS = re.compile(
    r"//[^\s\"'/]*(pypi\.org|pythonhosted\.org|repo1?\.maven|npmjs|debian\.org|proxy\.golang)"
    r"|--(extra-)?index-url|\bindex-url\s*=|/work/(main|shared)|\.\./shared|farm-studio"
)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def test_files_are_listed() -> None:
    assert len(CODE) > 50


def test_no_file_of_code_is_too_long() -> None:
    code = [path for path in CODE if not CAPTURED & set(path.parts)]
    long = {named(path): lines for path in code if (lines := text(path).count("\n")) > MOST_LINES}
    assert long == {}


def test_no_module_has_a_vague_name() -> None:
    assert [named(path) for path in CODE if VAGUE & {path.stem, path.parent.name}] == []


def test_every_module_begins_with_a_sentence() -> None:
    shipped = [path for path in CODE if path.relative_to(ROOT).parts[0] != "tests"]
    silent = [named(path) for path in shipped if not ast.get_docstring(ast.parse(text(path)))]
    assert silent == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_every_folder_of_code_is_a_package() -> None:
    shipped = {path.parent for path in CODE if path.relative_to(ROOT).parts[0] in PACKAGES}
    assert [named(folder) for folder in shipped if not (folder / "__init__.py").is_file()] == []


def test_no_error_is_swallowed() -> None:
    swallowed = [
        f"{named(path)}:{node.lineno}"
        for path in CODE
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.ExceptHandler) and all(isinstance(s, ast.Pass) for s in node.body)
    ]
    assert swallowed == []


def test_no_registry_and_no_workplace_is_named() -> None:
    own = Path(__file__)
    found = [
        f"{named(path)}: {match[0]}"
        for path in FILES
        if path != own and path.suffix != ".bin" and (match := HOSTS.search(text(path)))
    ]
    assert found == []


def test_constraints_are_bare_names_and_versions() -> None:
    lines = text(ROOT / "constraints.txt").splitlines()
    bare = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+")
    assert [line for line in lines if not bare.fullmatch(line)] == []
    assert lines == sorted(lines, key=str.lower)


def test_every_direct_dependency_is_pinned() -> None:
    pinned = {plain(line.split("==")[0]) for line in text(ROOT / "constraints.txt").splitlines()}
    whole = tomllib.loads(text(ROOT / "pyproject.toml"))
    project = whole["project"]
    asked = [*project["dependencies"], *whole["build-system"]["requires"]]
    asked += [each for extra in project["optional-dependencies"].values() for each in extra]
    names = {plain(re.split(r"[^A-Za-z0-9._-]", one)[0]) for one in asked} - {"forewarn"}
    assert names - pinned == set()
    assert "msgspec" in names


def plain(name: str) -> str:
    """Return the one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()
