import pytest

from exporters.collector import CollectorError, Host
from exporters.host.tcp import Tcp, parse
from tests.exporters.fakes import Everything, table

NAMES = "Tcp: RtoAlgorithm OutSegs RetransSegs\n"


def test_captured_machine_gives_what_its_kernel_counted(captured: Host) -> None:
    assert table(Tcp(captured).read(Everything())) == {
        ("node_tcp_retransmitted_segments_total", ""): 240.0,
        ("node_tcp_sent_segments_total", ""): 3194257.0,
    }


def test_only_what_is_due_is_handed_back(captured: Host) -> None:
    (own,) = Tcp(captured).read({"node_tcp_sent_segments_total"})
    assert own.signal == "node_tcp_sent_segments_total"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "two lines"), (NAMES, "two lines"), (NAMES + "Tcp: 1 2\n", "of one length"),
        ("Tcp: OutSegs\nTcp: 7\n", "no RetransSegs"),
    ],
)  # fmt: skip
def test_file_of_another_shape_is_an_error(text: str, why: str) -> None:
    with pytest.raises(CollectorError, match=why):
        parse(text)
