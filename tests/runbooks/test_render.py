import pytest

from forewarn.catalogue import CATALOGUE, MOVEMENTS
from runbooks.model import Predicate
from runbooks.render import label, phrase, place, predicate_text, quantity


def test_every_signal_has_a_short_name_in_both_languages() -> None:
    for signal in CATALOGUE.values():
        name = label(signal)
        assert 2 <= len(name.en) <= 90, signal.name
        assert name.en[0].isupper() or name.en[0].isdigit(), signal.name
        assert not name.en.startswith("1 "), signal.name
        assert name.zh, signal.name
        assert not name.zh.endswith(("为 1", "（", "：")), signal.name


def test_every_movement_has_words_on_every_kind_it_fits() -> None:
    for signal in CATALOGUE.values():
        for movement, row in MOVEMENTS.items():
            if signal.kind in row.kinds:
                assert phrase(signal, movement).en
                assert phrase(signal, movement).zh


@pytest.mark.parametrize(
    ("predicate", "english", "chinese"),
    [
        (
            Predicate(signal="gpu_row_remap_pending", movement="nonzero"),
            "A row remap waits for a reset: yes", "行重映射待复位生效：是",
        ),
        (
            Predicate(signal="node_up", movement="zero"),
            "The node answers on the management network: no", "节点在管理网可达：否",
        ),
        (
            Predicate(signal="nvidia.xid", movement="event", codes=("nvidia.xid:79",)),
            "NVIDIA Xid 79: seen", "英伟达 Xid 79：出现",
        ),
        (
            Predicate(signal="gpu_utilization_ratio", movement="above", value=0.95),
            "Share of time in which any kernel ran: above 95 %",
            "有核函数在运行的时间占比：高于 95 %",
        ),
        (
            Predicate(signal="job.nan", movement="event", codes=("job.nan:loss",)),
            "Value that is not a number (loss): seen", "上报值为 NaN 或无穷（loss）：出现",
        ),
        (
            Predicate(
                any=(
                    Predicate(signal="job_gradient_norm", movement="grows"),
                    Predicate(signal="job_gradient_norm", movement="spike"),
                )
            ),
            "Norm of the gradient before clipping: keeps growing, or a spike that came back",
            "裁剪前的梯度范数：持续增长，或出现尖峰后恢复",
        ),
    ],
)  # fmt: skip
def test_predicate_reads_well(predicate: Predicate, english: str, chinese: str) -> None:
    text = predicate_text(predicate)
    assert (text.en, text.zh) == (english, chinese)


def test_places_and_quantities() -> None:
    assert place("node/n7/gpu/0000:1a:00.0").en == "gpu 0000:1a:00.0 of node n7"
    assert place("node/n7/mount/%2Fdata").zh == "node n7 mount /data"
    assert quantity(0.876, "ratio") == "87.6 %"
    assert quantity(1.98e9, "hertz") == "1.98 GHz"
    assert quantity(0.005, "seconds") == "0.005 s"
    assert quantity(12, "count") == "12"
