from pathlib import Path

import pytest

import runbooks
from runbooks.load import parse_entry

GOOD = """
id: OPS-01
rev: 1
status: draft
owner: us
kind: cause
layer: host
entity: node
severity: minor
title: {en: Ours, zh: 我们的}
need:
  - {signal: node.oom_kill, movement: event, at: node}
"""


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def problem(text: str) -> str:
    entry, problems = parse_entry("x.yaml", text.encode())
    assert entry is None
    assert len(problems) == 1
    return str(problems[0])


def test_builtin_entries_load_without_a_problem() -> None:
    table = runbooks.load()
    assert table.problems == ()
    assert len(table) >= 150


def test_alias_and_code_are_brought_into_the_catalogues_terms() -> None:
    text = GOOD + "  - {signal: gpu.xid, movement: event, codes: ['xid:79']}\n"
    entry, problems = parse_entry("x.yaml", text.encode())
    assert entry is not None, problems
    assert entry.need[0].signal == "kernel.oom"
    assert (entry.need[1].signal, entry.need[1].at) == ("nvidia.xid", "gpu")
    assert entry.need[1].codes == ("nvidia.xid:79",)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("severty_x: minor", "x.yaml:13: severty_x: unknown key; remove it"),
        ("severity: bad", "x.yaml:13: severity: stands twice"),
        ("support: [{signal: node.oom_kil, movement: event}]", "did you mean node.oom_kill"),
        ("support: [{signal: gpu.temp.core, movement: flap}]", "does not fit gpu_temperature"),
        ("support: [{signal: gpu.temp.core, movement: upp}]", "x.yaml:13: support[0].movement:"),
        ("support: [{signal: gpu.temp.core, movement: up, at: nic}]", "not under nic"),
        ("support: [{signal: gpu.temp.core}]", "needs a movement"),
        ("support: [{signal: gpu.temp.core, movement: up, value: 3}]", "above and below only"),
        ("support: [{signal: gpu.power, movement: above}]", "has no floor"),
        ("support: [{movement: up}]", "support[0].signal: is missing"),
        ("support: [{signal: a, any: [{signal: job.nan, movement: event}]}]", "both signal and"),
        ("support: [{signal: gpu.xid, movement: event, codes: ['79']}]", "namespace:code"),
        ("support: [{signal: gpu.xid, movement: event, codes: [79]}]", "put it in quotes"),
        ("support: [{signal: gpu.xid, movement: event, codes: ['foo:1']}]", "no event of the"),
        ("support: [{signal: gpu.xid, movement: event, codes: ['sxid:1']}]", "predicate of its"),
        ("support: [{signal: gpu.power, movement: up, codes: ['xid:1']}]", "has no codes"),
        ("absorbs: ['bar:1']", "no event of the catalogue is called 'bar'"),
        ("escalate: [{count: 0, window_seconds: 1, action: {en: a}}]", "escalate[0].count"),
        ("support: [{signal: gpu.temp.core, movement: above, value: 1e2}]", "write a plain"),
    ],
)
def test_error_says_where_what_and_how_to_mend(line: str, words: str) -> None:
    said = problem(GOOD.rstrip("\n") + "\n" + line + "\n")
    assert said.startswith("x.yaml:")
    assert words in said


def test_every_fault_of_an_entry_is_told_at_once() -> None:
    lines = "support:\n  - {signal: a.b, movement: up}\n  - {signal: c.d, movement: up}\n"
    _, problems = parse_entry("x.yaml", (GOOD + lines).encode())
    assert [p.where for p in problems] == ["x.yaml:14", "x.yaml:15"]


def test_broken_files_are_left_out_and_the_rest_is_loaded(tmp_path: Path) -> None:
    put(tmp_path, "OPS-01.yaml", GOOD)
    put(tmp_path, "broken.yaml", "id: [")
    put(tmp_path, "unknown.yml", GOOD.replace("OPS-01", "OPS-02") + "foo: 1\n")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge.yaml").write_bytes(b"a" * 10_000_000)
    put(tmp_path, "notes.txt", "no entry")
    table = runbooks.load([tmp_path])
    assert table.get("OPS-01") is not None
    assert table.get("OPS-02") is None
    broken = sorted(Path(p.where.rpartition(":")[0]).name for p in table.problems)
    assert broken == ["broken.yaml", "bytes.yaml", "huge.yaml", "unknown.yml"]


def test_operators_entry_with_higher_revision_replaces(tmp_path: Path) -> None:
    held = runbooks.load().entries["HOST-01"]
    text = GOOD.replace("OPS-01", "HOST-01").replace("rev: 1", f"rev: {held.rev + 1}")
    put(tmp_path, "HOST-01.yaml", text)
    table = runbooks.load([tmp_path])
    assert table.entries["HOST-01"].title.en == "Ours"
    assert table.problems == ()


def test_operators_entry_with_same_revision_is_a_problem(tmp_path: Path) -> None:
    held = runbooks.load().entries["HOST-01"]
    text = GOOD.replace("OPS-01", "HOST-01").replace("rev: 1", f"rev: {held.rev}")
    put(tmp_path, "HOST-01.yaml", text)
    table = runbooks.load([tmp_path])
    assert table.entries["HOST-01"] == held
    assert "raise rev" in table.problems[0].message


def test_an_id_is_never_used_twice_in_one_place(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", GOOD)
    put(tmp_path, "b.yaml", GOOD.replace("rev: 1", "rev: 2"))
    table = runbooks.load([tmp_path])
    assert table.entries["OPS-01"].rev == 1
    assert "a.yaml:1 already" in table.problems[0].message


def test_missing_folder_is_a_problem_and_no_error(tmp_path: Path) -> None:
    table = runbooks.load([tmp_path / "nowhere"])
    assert len(table) >= 150
    assert [p.key for p in table.problems] == ["folder"]


def test_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    put(tmp_path, "OPS-01.yaml", GOOD)
    assert runbooks.load([tmp_path]).get("OPS-01") is not None
