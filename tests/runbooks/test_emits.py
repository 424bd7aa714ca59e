import pytest

from runbooks import Table
from runbooks.emits import can_be_seen, openers, unseen
from runbooks.model import Predicate
from runbooks.vendor_actions import BUCKETS, IMMEDIATE, advice_text, bucket


def test_every_need_of_the_builtin_table_can_be_emitted(builtin: Table) -> None:
    assert {e.id: list(unseen(e)) for e in builtin.living() if list(unseen(e))} == {}
    assert [e.id for e in builtin.living() if not openers(e)] == []


@pytest.mark.parametrize(
    ("signal", "movement", "expected"),
    [
        ("gpu_temperature_celsius", "up", True), ("gpu_temperature_celsius", "zero", False),
        ("node_memory_available_bytes", "up", False), ("nvidia.xid", "event", True),
        ("job_step_seconds", "outlier", False), ("rank_step_seconds", "outlier", True),
        ("nic_symbol_errors_total", "grows", True),
    ],
)  # fmt: skip
def test_side_kind_and_peers_decide(signal: str, movement: str, expected: bool) -> None:
    own = Predicate(signal=signal, movement=movement)  # type: ignore[arg-type]
    assert can_be_seen(own) is expected


def test_sheet_of_the_maker_is_whole() -> None:
    assert len(IMMEDIATE) == 98
    assert set(IMMEDIATE.values()) == set(BUCKETS)
    said = bucket("nvidia.xid:149/nvldl/4")
    assert said is not None
    assert said.says.en == "decode the sub-code first"
    assert bucket("amd.afid:3") is None
    advice = advice_text("nvidia.xid:79")
    assert advice is not None
    assert "重启物理机" in advice.zh
