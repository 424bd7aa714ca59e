from hypothesis import given
from hypothesis import strategies as st

from exporters.splitter import Splitter


def test_lines_are_joined_over_reads() -> None:
    own = Splitter(100)
    assert own.feed(b"one\ntw") == ([b"one"], 0)
    assert own.feed(b"o\n\nthree\n") == ([b"two", b"", b"three"], 0)


def test_a_line_of_a_megabyte_is_passed_over_and_counted_once() -> None:
    own = Splitter(100)
    counts = [own.feed(b"x" * 65536)[1] for _ in range(16)]
    assert sum(counts) == 1
    assert own.feed(b"tail\nnext\n") == ([b"next"], 0)


def test_a_long_line_within_one_read_is_counted() -> None:
    assert Splitter(10).feed(b"short\n" + b"x" * 11 + b"\nlast\n") == ([b"short", b"last"], 1)


@given(
    st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"."))),
    st.lists(st.integers(1, 17), min_size=1),
)
def test_how_the_bytes_are_cut_does_not_matter(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    own, got, long, at, turn = Splitter(16), [], 0, 0, 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        some, count = own.feed(data[at : at + size])
        got, long, at, turn = got + some, long + count, at + size, turn + 1
    assert got == [line for line in lines if len(line) <= 16]
    assert long == sum(len(line) > 16 for line in lines)
