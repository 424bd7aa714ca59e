"""`forewarn runbook`: look-up in either language, show, lint."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forewarn.cli.main import cli


def _runbook(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["runbook", *arguments])


def _first(*query: str) -> dict[str, object]:
    result = _runbook("lookup", *query, "--json", "--limit", "1")
    assert result.exit_code == 0, result.output
    first: dict[str, object] = json.loads(result.stdout.splitlines()[0])
    return first


@pytest.mark.parametrize(
    ("query", "entries"),
    [
        (("loss", "nan"), {"SYM-02", "TRN-03"}),
        (("训练吞吐突然下降",), {"SYM-01"}),
        (("xid", "79"), {"GPU-CORE-01"}),
        (("nvidia.xid:79",), {"GPU-CORE-01"}),
        (("gpu_temperature_celsius=high",), {"GPU-TP-01"}),
        (("gpu.temp.core=过热",), {"GPU-TP-01"}),
        (("GPU", "掉卡"), {"GPU-CORE-01"}),
        (("NIC-03",), {"NIC-03"}),
        (("read-only filesystem",), {"HOST-08"}),
        (("nvme wear",), {"HOST-08"}),
    ],
)
def test_lookup_finds_the_entry_and_says_why(query: tuple[str, ...], entries: set[str]) -> None:
    first = _first(*query)
    assert first["entry"] in entries
    assert first["why"]


def test_lookup_of_an_unknown_word_gives_the_nearest_and_exit_code_3() -> None:
    result = _runbook("lookup", "flibbertigibbet")
    assert result.exit_code == 3
    assert "flibbertigibbet" in result.output
    assert result.output.count("-0") >= 1


def test_lookup_marks_drafts() -> None:
    result = _runbook("lookup", "FAC-02")
    assert "[draft]" in result.output


def test_show_in_chinese_is_chinese() -> None:
    result = _runbook("show", "GPU-TP-01", "--lang", "zh")
    assert result.exit_code == 0
    for head in ("必要证据", "检查", "立即处置", "长期措施"):
        assert head in result.output


def test_show_of_an_unknown_entry_names_the_nearest() -> None:
    result = _runbook("show", "GPU-TP-99")
    assert result.exit_code == 3
    assert "GPU-TP-0" in result.output


def test_lint_of_the_built_in_table_is_clean() -> None:
    result = _runbook("lint")
    assert result.exit_code == 0, result.output


def test_lint_names_file_line_and_key_of_a_broken_entry(tmp_path: Path) -> None:
    (tmp_path / "OWN-01.yaml").write_text("id: OWN-01\nrev: one\nstatus: draft\n")
    result = _runbook("lint", str(tmp_path))
    assert result.exit_code == 1
    assert result.output.count("OWN-01.yaml:2") == 1
    assert "rev" in result.output


@pytest.mark.parametrize(
    ("line", "code", "entry"),
    [
        ("NVRM: Xid (PCI:0000:1b:00): 94, pid=12, name=python, Contained: SM", "nvidia.xid:94",
         "GPU-MEM-04"),
        ("[12345.678901] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.",
         "nvidia.xid:79", "GPU-CORE-01"),
        ("Dec  1 03:12:45 n07 kernel: [1.6] EXT4-fs (nvme0n1p1): Remounting filesystem read-only",
         "kernel.event:filesystem_read_only", "HOST-08"),
        ("[Tue Dec  1 03:12:45 2026] Out of memory: Killed process 1234 (python)",
         "kernel.oom:global", "HOST-03"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
         "cuda.error:oom", "HOST-04"),
    ],
)  # fmt: skip
def test_pasted_line_of_a_log_is_read_as_the_agent_reads_it(
    line: str, code: str, entry: str
) -> None:
    assert _first(line)["entry"] == entry
    assert f"read as a line of a log: {code}" in _runbook("lookup", line).stderr


@pytest.mark.parametrize("words", ["out of memory", "xid 94", "[rank3] slow", "n7 kernel: hello"])
def test_other_words_are_no_line_of_a_log(words: str) -> None:
    assert "read as a line" not in _runbook("lookup", words).output
