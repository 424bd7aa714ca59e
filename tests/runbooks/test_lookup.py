from collections.abc import Callable
from typing import Any

import pytest

from runbooks import Table, lookup

Make = Callable[..., Any]


def first(table: Table, query: str, count: int = 1) -> list[str]:
    return [hit.entry.id for hit in lookup(table, query).hits[:count]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("loss nan", "SYM-02"), ("训练吞吐突然下降", "SYM-01"), ("xid 79", "GPU-CORE-01"),
        ("nvidia.xid:79", "GPU-CORE-01"), ("Xid 149", "NVL-02"), ("81078603", "NPU-03"),
        ("gpu_temperature_celsius=high", "GPU-TP-01"), ("gpu.temp.core=过热", "GPU-TP-01"),
        ("GPU-TP-01", "GPU-TP-01"), ("MFU 低", "SYM-04"), ("任务频繁中断", "SYM-03"),
        ("掉卡", "GPU-CORE-01"), ("checkpoint slow", "SYM-12"), ("漏水", "FAC-02"),
        ("卡死", "SYM-05"), ("nic.symbol_error rising", "NIC-03"), ("cuda 802", "SW-03"),
        ("job keeps restarting at the same step", "TRN-10"), ("GPU 温度高", "GPU-TP-01"),
        ("loss 不下降", "SYM-14"), ("loss does not go down", "SYM-14"), ("显存泄漏", "HOST-04"),
        ("CUDA error: an illegal memory access was encountered", "GPU-CORE-05"),
        ("NCCL timeout all ranks hang", "COMM-01"), ("temperature does not change", "OBS-04"),
        ("TCP 重传", "HOST-13"),
    ],
)  # fmt: skip
def test_what_people_ask_finds_the_entry(builtin: Table, query: str, expected: str) -> None:
    assert first(builtin, query) == [expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("throtling", "GPU-TP-02"), ("networj errors", "SYM-11"), ("loss 突然变 NaN", "SYM-02"),
        ("nccl 超时", "SYM-11"), ("oom", "HOST-03"), ("显存 溢出 oom", "HOST-04"),
        ("吞吐", "SYM-01"), ("nan inf loss", "TRN-03"),
    ],
)  # fmt: skip
def test_partial_misspelled_and_mixed_words_find_it_near_the_top(
    builtin: Table, query: str, expected: str
) -> None:
    assert expected in first(builtin, query, 5)


def test_each_hit_says_why_in_both_languages(builtin: Table) -> None:
    for query in ("loss nan", "xid 79", "gpu.temp.core=high", "GPU-TP-01", "卡死", "zzzz"):
        answer = lookup(builtin, query)
        assert answer.hits
        assert all(why.en and why.zh for hit in answer.hits for why in hit.why)
        assert all(hit.why for hit in answer.hits)
    assert "title: loss, nan" in lookup(builtin, "loss nan").hits[0].why[0].en
    code = lookup(builtin, "xid 79").hits[0]
    assert code.why[0].en == "code nvidia.xid:79 is what the entry needs"
    assert code.why[0].zh == "代码 nvidia.xid:79 是该条目的必要证据"


def test_draft_is_marked_and_stands_behind_an_active_entry(table: Make) -> None:
    own = table(
        {"id": "AA-01", "title": {"en": "Fan lost", "zh": "风扇"}, "status": "draft"},
        {"id": "BB-01", "title": {"en": "Fan lost", "zh": "风扇"}},
    )
    hits = lookup(own, "fan lost").hits
    assert [(hit.entry.id, hit.draft) for hit in hits] == [("BB-01", False), ("AA-01", True)]


def test_unknown_word_gets_the_nearest_entries_and_is_named(builtin: Table) -> None:
    answer = lookup(builtin, "qqqzzz")
    assert answer.nearest
    assert answer.hits
    assert answer.notes[0].en == "No entry holds: qqqzzz."
    assert answer.notes[0].zh == "没有条目包含：qqqzzz。"


def test_unknown_word_beside_known_ones_is_named(builtin: Table) -> None:
    answer = lookup(builtin, "loss nan qqqzzz")
    assert not answer.nearest
    assert answer.hits[0].entry.id == "SYM-02"
    assert "qqqzzz" in answer.notes[0].en


@pytest.mark.parametrize("query", ["", "   ", "凤凰涅槃", "the", "😀"])
def test_there_is_never_silence(builtin: Table, query: str) -> None:
    answer = lookup(builtin, query)
    assert answer.hits
    assert answer.notes


def test_unknown_code_gets_its_neighbours_and_the_sheets_advice(builtin: Table) -> None:
    answer = lookup(builtin, "xid 60")
    assert answer.nearest
    assert any("near nvidia.xid:60" in hit.why[0].en for hit in answer.hits)
    said = " ".join(note.en for note in answer.notes)
    assert "restart the application" in said
    assert "No entry names the code nvidia.xid:60." in said


def test_unknown_signal_gets_the_nearest_names(builtin: Table) -> None:
    notes = lookup(builtin, "gpu.tmp.core=high").notes
    assert "gpu.temp.core" in notes[0].en


def test_unknown_id_gets_the_nearest_ids(builtin: Table) -> None:
    answer = lookup(builtin, "GPU-TP-77")
    assert answer.notes[0].en == "No entry is called GPU-TP-77."
    assert answer.hits[0].entry.id.startswith("GPU-TP-0")


def test_symptom_leads_on_to_its_causes_behind_it(builtin: Table) -> None:
    hits = lookup(builtin, "训练吞吐突然下降", limit=30).hits
    led = {hit.entry.id for hit in hits if any("SYM-01 leads" in w.en for w in hit.why)}
    assert {"GPU-TP-01", "STO-01", "TRN-01"} <= led
    assert hits[0].entry.id == "SYM-01"


def test_limit_and_kind(builtin: Table) -> None:
    assert len(lookup(builtin, "gpu", limit=3).hits) == 3
    kinds = {hit.entry.kind for hit in lookup(builtin, "loss nan", kind="cause").hits}
    assert kinds == {"cause"}


def test_sub_code_and_word_of_a_movement_narrow(table: Make) -> None:
    own = table(
        {"id": "AA-01", "need": [{"signal": "gpu.temp.core", "movement": "down"}]},
        {"id": "BB-01", "need": [{"signal": "gpu.temp.core", "movement": "up"}]},
    )
    assert first(own, "gpu.temp.core=high") == ["BB-01"]
    assert first(own, "gpu.temp.core=偏低") == ["AA-01"]
