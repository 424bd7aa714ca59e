import re
from pathlib import Path

from runbooks import Table
from runbooks.cases import run
from runbooks.load import parse_entry

PAGE = Path(__file__).parents[2] / "docs/runbooks.md"


def test_example_of_the_page_loads_and_its_cases_pass(builtin: Table) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    entry, problems = parse_entry("OPS-01.yaml", "".join(blocks).encode())
    assert problems == ()
    assert entry is not None
    outcomes = run(Table({**builtin.entries, entry.id: entry}), entry)
    assert [(o.case, o.message) for o in outcomes if not o.passed] == []
    assert len(outcomes) == 2
