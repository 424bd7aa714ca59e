"""Writes every dashboard into dashboards/generated/, one file for each language.

`python -m dashboards` writes; with `--check` it names what has drifted and fails.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from dashboards.panels import render
from dashboards.table import DASHBOARDS
from forewarn.language import LANGUAGES

GENERATED = Path(__file__).with_name("generated")


def files() -> Iterator[tuple[Path, str]]:
    """Yield the path of every generated file, below GENERATED, and its text."""
    for language in LANGUAGES:
        for dashboard in DASHBOARDS:
            yield Path(language, f"{dashboard.name}.json"), render(dashboard, language)


def drift(folder: Path) -> list[str]:
    """Return what is missing, out of date, or made by nobody in `folder`."""
    wanted = dict(files())
    found = {path.relative_to(folder): path.read_text("utf-8") for path in folder.rglob("*.json")}
    return sorted(str(p) for p in wanted.keys() | found.keys() if wanted.get(p) != found.get(p))


def write(folder: Path) -> None:
    """Write all files, and remove those that nothing makes any more."""
    wanted = dict(files())
    for path in folder.rglob("*.json"):
        if path.relative_to(folder) not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def main(check: bool) -> int:
    """Write, or with `check` say what has drifted; return the exit status."""
    count = sum(1 for _ in files())
    if not check:
        write(GENERATED)
        sys.stdout.write(f"{count} files written to dashboards/generated\n")
        return 0
    drifted = drift(GENERATED)
    for name in drifted:
        sys.stderr.write(f"dashboards/generated/{name} is out of date; run: make gen\n")
    if not drifted:
        sys.stdout.write(f"dashboards/generated: {count} files as they should be\n")
    return int(bool(drifted))


if __name__ == "__main__":
    options = argparse.ArgumentParser("python -m dashboards", description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    sys.exit(main(options.parse_args().check))
