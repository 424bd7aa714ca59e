from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.host.kernel_lines import KernelLine, parse

BOOT = Path(__file__).parents[1] / "fixtures/kmsg_boot.txt"


def test_a_line_is_taken_apart() -> None:
    line = parse(b"14,350,987654321,-,caller=T12;NVRM: Xid; 79")
    assert line == KernelLine(1, 6, 350, 987654321, "NVRM: Xid; 79")


def test_every_captured_line_is_of_the_kernel() -> None:
    lines = [parse(raw) for raw in BOOT.read_bytes().splitlines() if raw[:1] != b" "]
    assert len(lines) > 30
    assert all(line is not None and line.facility == 0 for line in lines)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"text",
        b"6,1,2;text",
        b"6,x,2,-;text",
        b"99999999999,1,1,-;x",
        b"-1,1,1,-;x",
        b"6,99999999999999999999,1,-;x",
        b"6,1,99999999999999999999,-;x",
    ],
)
def test_another_shape_is_none(raw: bytes) -> None:
    assert parse(raw) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_line_or_none(raw: bytes) -> None:
    line = parse(raw)
    assert line is None or (line.facility >= 0 and 0 <= line.level < 8)
