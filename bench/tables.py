"""A table of figures into a page of docs/, between its markers."""

from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def between(name: str, table: str, page: Path = PAGE) -> None:
    """Write `table` between the markers `<!-- bench: name -->` and `<!-- end name -->` of `page`.

    Raises ValueError where the page has no such markers.
    """
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- bench: {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page}: has no place {begin} … {end}")
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")
