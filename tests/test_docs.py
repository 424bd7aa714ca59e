"""The documents: links lead somewhere, generated parts are fresh, examples are right."""

import base64
import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from exporters.registry import COLLECTORS, STREAMS
from forewarn import config
from forewarn.catalogue import CATALOGUE
from forewarn.wire import VERSION

ROOT = Path(__file__).parent.parent
LISTED = subprocess.run(
    ["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, check=True, text=True
).stdout.split("\0")
PAGES = [ROOT / name for name in LISTED if name and (ROOT / name).is_file()]
LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Test vector of Standard Webhooks.
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
BODY = b'{"type":"incident.opened","data":{"id":"inc_1"}}'
SIGNATURE = "v1,x3EtH1+cN8Dk8A4LIaMyO1BoTQGAfRO5/0k0bYUrpIg="


def blocks(page: str, language: str) -> list[str]:
    found = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [body for name, body in found if name == language]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    local = [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]
    lost = [link for link in local if not _leads(page, link)]
    assert lost == []


def _leads(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if not target.exists():
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_generated_parts_are_fresh(generate: ModuleType) -> None:
    stale = [
        page.name
        for page in (ROOT / "docs").glob("*.md")
        if generate.fresh(text := page.read_text(encoding="utf-8")) != text
    ]
    assert stale == [], "run: make docs"


def test_drift_of_a_generated_part_is_told(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: topics -->\nold\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    assert generate.main(check=True) == 1
    assert generate.main(check=False) == 0
    assert "| `frames` | node |" in page.read_text(encoding="utf-8")
    assert generate.main(check=True) == 0


def test_every_setting_is_documented(generate: ModuleType) -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    for name, section in generate._sections("", config.Settings):
        texts = generate.meanings(section)
        for key in section.__struct_fields__:
            assert f"| `{key}` |" in page, f"{name}.{key}"
            assert texts[key] in page, f"{name}.{key}"


def test_every_signal_is_documented() -> None:
    page = (ROOT / "docs/signals.md").read_text(encoding="utf-8")
    for signal in CATALOGUE.values():
        assert f"| `{signal.name}` |" in page
        assert signal.help.zh in page


def test_every_collector_is_documented() -> None:
    page = (ROOT / "docs/signals.md").read_text(encoding="utf-8")
    assert [name for name in COLLECTORS if f"\n| `{name}` |" not in page] == []
    assert [name for name in STREAMS if f"(`{name}`)" not in page] == []


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_settings_in_a_page_are_good(page: str) -> None:
    examples = blocks(page, "toml")
    assert examples
    for example in examples:
        assert config.parse(example, page) != config.Settings()


def test_every_decision_stands_in_their_list() -> None:
    folder = ROOT / "docs/adr"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in folder.glob("[0-9]*.md"))
    numbers = [name[:4] for name in listed]
    assert len(set(numbers)) == len(numbers)


def test_changelog_uses_the_fixed_tags() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    items = [line for line in lines if line.startswith("- ")]
    tag = re.compile(r"- \[(CHANGE|FEATURE|ENHANCEMENT|BUGFIX)\] ")
    assert items
    assert [item for item in items if not tag.match(item)] == []


def test_python_of_the_webhook_page_checks_signatures() -> None:
    names: dict[str, Any] = {}
    exec(blocks("docs/webhooks.md", "python")[0], names)  # noqa: S102 our own example
    is_genuine = names["is_genuine"]
    headers = {
        "webhook-id": "msg_1", "webhook-timestamp": "1700000000",
        "webhook-signature": f"v1,other {SIGNATURE}",
    }  # fmt: skip
    assert is_genuine(SECRET, headers, BODY, now=1_700_000_100)
    assert not is_genuine(SECRET, headers, BODY, now=1_700_000_301)
    assert not is_genuine(SECRET, headers, BODY + b" ", now=1_700_000_100)
    assert not is_genuine(SECRET, {}, BODY, now=1_700_000_100)


def test_shell_of_the_webhook_page_makes_the_signature(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_bytes(BODY)
    script = f"id=msg_1; timestamp=1700000000; secret={SECRET}\n"
    script += blocks("docs/webhooks.md", "bash")[0]
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == SIGNATURE


def test_secret_of_the_webhook_page_is_long_enough() -> None:
    (line,) = blocks("docs/webhooks.md", "sh")
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    key = base64.b64decode(done.stdout.strip().removeprefix("whsec_"), validate=True)
    assert 24 <= len(key) <= 64


def test_wire_version_has_its_fixtures() -> None:
    folder = ROOT / "tests/forewarn/fixtures/wire"
    versions = {path.name for path in folder.iterdir() if path.is_dir()}
    assert versions == {f"v{version}" for version in range(1, VERSION + 1)}
