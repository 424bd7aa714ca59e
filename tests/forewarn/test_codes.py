"""Codes: one spelling, and patterns that mean what people write."""

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from forewarn import codes
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.errors import ForewarnError


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("nvidia.xid:79", "nvidia.xid:79"),
        (" XID:79 ", "nvidia.xid:79"),
        ("xid: 79", "nvidia.xid:79"),
        ("nvidia.xid:149/NVLDL/4", "nvidia.xid:149/nvldl/4"),
        ("slurm:DOWN", "slurm.node_state:down"),
        ("ascend:0x80C98000", "ascend.fault_code:0x80c98000"),
        ("job.log_event:nccl_ib_error_12", "nccl.error:ib_error_12"),
        ("job.log_event:cuda_oom", "cuda.error:oom"),
        ("job.log_event:hccl_timeout", "hccl.error:timeout"),
        ("job.log_event:traceback", "job.log_event:traceback"),
        ("afid:007", "amd.afid:007"),
        ("a:b:c", "a:b:c"),
    ],
)
def test_normal_is_the_one_spelling(written: str, normal: str) -> None:
    assert codes.normal(written) == normal


@pytest.mark.parametrize("written", ["", "79", "xid", "xid:", ":79", " : ", "xid:  "])
def test_text_without_namespace_or_code_is_refused(written: str) -> None:
    with pytest.raises(ForewarnError, match="expected namespace:code"):
        codes.normal(written)


@given(st.from_regex(r"[a-z_.]{1,20}:[ -~]{1,20}", fullmatch=True))
def test_normal_of_normal_is_itself(written: str) -> None:
    try:
        once = codes.normal(written)
    except ForewarnError:
        reject()
    assert codes.normal(once) == once


def test_spellings_lead_to_event_rows() -> None:
    for namespace in (*codes.SPELLINGS.values(), *codes.SPLIT.values()):
        assert CATALOGUE[namespace].kind is Kind.EVENT


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("nvidia.xid:79", "nvidia.xid:79"),
        ("nvidia.xid:149", "nvidia.xid:149/nvldl/4"),
        ("nvidia.xid:any", "nvidia.xid:31"),
        ("nvidia.xid", "nvidia.xid:31"),
        ("redfish.leak:Critical", "redfish.leak:CRITICAL"),
    ],
)
def test_pattern_matches(pattern: str, code: str) -> None:
    assert codes.matches(pattern, code)


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("nvidia.xid:7", "nvidia.xid:79"),
        ("nvidia.xid:79", "nvidia.xid:790"),
        ("nvidia.xid:149/nvldl", "nvidia.xid:149"),
        ("nvidia.xid:any", "nvidia.sxid:79"),
        ("amd.afid:7", "amd.afid:007"),
    ],
)
def test_pattern_does_not_match(pattern: str, code: str) -> None:
    assert not codes.matches(pattern, code)
