import pytest

from runbooks.query import SignalAsked, read


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("xid 79", ("nvidia.xid:79",)), ("Xid79", ("nvidia.xid:79",)),
        ("XID=79", ("nvidia.xid:79",)), ("nvidia.xid:79", ("nvidia.xid:79",)),
        ("xid:149/NVLDL/4", ("nvidia.xid:149/nvldl/4",)), ("sxid 20034", ("nvidia.sxid:20034",)),
        ("NCCL error 12", ("nccl.error:12",)), ("CUDA 错误 802", ("cuda.error:802",)),
        ("ascend:80E01801", ("ascend.fault_code:80e01801",)),
        ("job.log_event:nccl_ib_error", ("nccl.error:ib_error",)),
    ],
)  # fmt: skip
def test_codes_are_read_as_people_write_them(text: str, codes: tuple[str, ...]) -> None:
    query = read(text)
    assert query.codes == codes
    assert query.words == ""


def test_bare_vendor_code() -> None:
    assert read("81078603").bare_codes == ("81078603",)
    assert read("80E01801").bare_codes == ("80e01801",)


@pytest.mark.parametrize("text", ["gpu_temperature_celsius=high", "gpu.temp.core = HIGH"])
def test_signal_by_name_or_alias_with_a_word(text: str) -> None:
    own = SignalAsked(
        "gpu_temperature_celsius", ("up", "above", "step_up", "spike", "outlier"), "high"
    )
    assert read(text).signals == (own,)


def test_signal_alone_or_with_a_number() -> None:
    assert read("gpu.temp.core").signals == (SignalAsked("gpu_temperature_celsius"),)
    assert read("node.fs.used > 95").signals[0].movements == ("above", "up", "step_up", "grows")


def test_ids_in_any_case_and_without_the_zero() -> None:
    assert read("gpu-tp-01 and TRN-3").ids == ("GPU-TP-01", "TRN-03")


def test_mixed_query_is_taken_apart() -> None:
    query = read("xid 79 掉卡 gpu.temp.core=过热 why")
    assert query.codes == ("nvidia.xid:79",)
    assert query.signals[0].name == "gpu_temperature_celsius"
    assert query.words.split() == ["掉卡", "why"]


def test_what_looks_like_ours_and_is_not_is_named_and_searched_as_words() -> None:
    query = read("gpu.tmp.core=high")
    assert query.strange == ("gpu.tmp.core",)
    assert "core" in query.words.split()


def test_nothing_breaks_the_reader() -> None:
    for text in ("", "=", ":", "x" * 100_000, "a=b=c:d", "\x00\n", "xid", "xid:", "😀 = 😀"):
        read(text)
