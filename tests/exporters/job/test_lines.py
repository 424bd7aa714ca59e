import pytest

from exporters.job.lines import Close, Hello, LineError, Step, parse


def test_a_step_is_read_with_numbers_that_json_lacks() -> None:
    line = parse(b'{"kind":"step","step":3,"time_unix_nano":5,"loss":"nan","tokens":10,"new":1}')
    assert line == Step(step=3, time_unix_nano=5, loss="nan", tokens=10.0)


def test_a_hello_is_read() -> None:
    line = parse(
        b'{"kind":"hello","version":1,"job":"4711","rank":0,"world_size":8,"pid":1,'
        b'"started_unix_nano":5,"leader":true,"devices":["0000:1a:00.0"],"stage":null}'
    )
    assert isinstance(line, Hello)
    assert (line.job, line.devices, line.stage) == ("4711", ("0000:1a:00.0",), None)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "truncated"),
        (b"{}", "missing required field `kind`"),
        (b"[1]", "Expected `object`"),
        (b'{"kind":"step","step":"x","time_unix_nano":5}', "Expected `int`, got `str`"),
        (b'{"kind":"step","step":1,"time_unix_nano":-5}', ">= 0"),
        (b'{"kind":"step","step":1,"time_unix_nano":5,"loss":"high"}', "Invalid enum value 'high'"),
        (b'{"kind":"close","state":"bored","time_unix_nano":5}', "Invalid enum value 'bored'"),
        (b'{"kind":"dance"}', "Invalid value 'dance'"),
        (b"\xff\xfe", "malformed"),
        (b'{"kind":"step","new":' + b"[" * 30_000, "recursion"),
        (b'{"kind":"step","step":' + b"9" * 400 + b',"time_unix_nano":5}', "<= "),
        (b'{"kind":"dropped","total":' + b"9" * 400 + b"}", "<= "),
    ],
)  # fmt: skip
def test_what_is_no_report_says_why(data: bytes, why: str) -> None:
    with pytest.raises(LineError, match=why):
        parse(data)


def test_a_close_has_a_state_of_the_list() -> None:
    assert parse(b'{"kind":"close","state":"failed","time_unix_nano":5}') == Close("failed", 5)
