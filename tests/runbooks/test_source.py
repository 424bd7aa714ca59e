import pytest

from forewarn.errors import EntryError
from runbooks.source import MAX_BYTES, parse


def said(raw: bytes) -> str:
    with pytest.raises(EntryError) as caught:
        parse("x.yaml", raw)
    return str(caught.value)


def test_lines_are_remembered_by_path() -> None:
    document = parse("x.yaml", b"id: A\nneed:\n  - signal: a\n    at: gpu\n  - signal: b\n")
    assert document.data == {"id": "A", "need": [{"signal": "a", "at": "gpu"}, {"signal": "b"}]}
    assert document.line("need[0].at") == 4
    assert document.line("need[1].signal") == 5
    assert document.line("need[1].movement") == 5
    assert document.line("need[7].movement") == 2
    assert document.line("nothing") == 1


def test_error_names_file_line_key_and_fix() -> None:
    document = parse("x.yaml", b"id: A\nrev: x\n")
    assert str(document.error("rev", "must be a number")) == "x.yaml:2: rev: must be a number"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"id: A\nneed: [a, b\nrev: 1\n", "x.yaml:3: file: no YAML"),
        (b"id: \xff\xfe\n", "x.yaml:1: file: is no UTF-8 text"),
        (b"ok: 1\nid: \xff\n", "x.yaml:2: file: is no UTF-8 text"),
        (b"", "must hold the keys of one entry"),
        (b"- a\n- b\n", "must hold the keys of one entry"),
        (b"id: A\n---\nid: B\n", "x.yaml:2: file: no YAML"),
        (b"id: A\nid: B\n", "x.yaml:2: id: stands twice"),
        (b"on: 1\n", "key True must be text"),
        (b"a: &x [1]\nb: *x\n", "an alias (*name) is not allowed"),
        (b"a: &x {b: *x}\n", "an alias (*name) is not allowed"),
        (b"a: !!python/object/apply:os.system [ls]\nb: 1\n", "x.yaml:1: a: has a tag"),
        (b"a: !thing 3\n", "cannot be read"),
        (b"a: 1\x07\n", "no YAML"),
        (b"? [a, b]\n: 1\n", "must be text"),
    ],
)
def test_bad_text_is_refused_with_its_line(raw: bytes, words: str) -> None:
    assert words in said(raw)


def test_bomb_of_aliases_is_refused_before_it_unfolds() -> None:
    rows = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [b"a%d: &a%d [%s]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 12)]
    assert "alias" in said(b"\n".join(rows))


@pytest.mark.parametrize("raw", [b"a: " + b"[" * 100_000, b"a:\n" + b"- " * 50_000 + b"x\n"])
def test_deep_nesting_is_refused(raw: bytes) -> None:
    assert "nested too deeply" in said(raw)


def test_nesting_beyond_any_entry_is_refused() -> None:
    assert "nested too deeply" in said(b"a: " + b"[" * 30 + b"]" * 30)


def test_large_file_is_refused() -> None:
    assert "larger than" in said(b"a" * (MAX_BYTES + 1))
