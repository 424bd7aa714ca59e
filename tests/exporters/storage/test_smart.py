import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from exporters.children import Answer, Children
from exporters.collector import Host
from exporters.storage.smart import Health, Smart, judge, of_smartctl
from forewarn.records import Outcome
from tests.exporters.fakes import Everything, table

LIFE, ERRORS = "disk_life_remaining_ratio", "disk_media_errors_total"
# As nvme-cli 2.3 and smartctl 7.3 print them, cut to what is read.
NVME = {"critical_warning": 0, "temperature": 310, "percent_used": 12, "media_errors": 3}
SMART_NVME = {
    "smartctl": {"exit_status": 0},
    "nvme_smart_health_information_log": {"percentage_used": 140, "media_errors": 0},
}
SMART_ATA = {
    "smartctl": {"exit_status": 4},
    "ata_smart_attributes": {"table": [{"id": 5, "raw": {"value": 9}},
                                       {"id": 187, "raw": {"value": 2, "string": "2"}}]},
}  # fmt: skip
SMART_SCSI = {
    "smartctl": {"exit_status": 0},
    "scsi_percentage_used_endurance_indicator": 5,
    "scsi_error_counter_log": {
        "read": {"total_uncorrected_errors": 1}, "write": {"total_uncorrected_errors": 4}
    },
}  # fmt: skip
# A virtual drive, as smartctl answered here (status 2: the device did not open as any type).
UNKNOWN = {"smartctl": {"messages": [{"string": "/dev/vda: Unable to detect device type"}]}}


class Tools(Children):
    """Tools that answer as the test says, by drive."""

    def __init__(self, answers: dict[str, Answer]) -> None:
        super().__init__(1.0)
        self.answers = answers
        self.asked: dict[str, Sequence[str]] = {}

    def run(self, commands: Mapping[str, Sequence[str]]) -> dict[str, Answer]:
        self.asked = dict(commands)
        return {key: self.answers[key] for key in commands}


def page(held: object, code: int = 0) -> Answer:
    return Answer(code, 0.1, json.dumps(held).encode())


@pytest.fixture
def drives(empty: Host, put: Callable[[str, str], None]) -> Host:
    for name in ("nvme0n1", "sda", "loop0"):
        put(f"sys/block/{name}/size", "1")
    return empty


def test_drives_are_read_by_the_tool_that_fits(drives: Host) -> None:
    tools = Tools({"nvme0n1": page(NVME), "sda": page(SMART_ATA, 4)})
    found = table(Smart(drives, tools, lambda tool: f"/bin/{tool}").read(Everything()))
    assert found == {
        (LIFE, "disk/nvme0n1"): pytest.approx(0.88),
        (ERRORS, "disk/nvme0n1"): 3,
        (LIFE, "disk/sda"): "UNSUPPORTED",
        (ERRORS, "disk/sda"): 2,
    }
    assert tools.asked["nvme0n1"][0] == "/bin/nvme"
    assert tools.asked["sda"] == ("/bin/smartctl", "-a", "-j", "/dev/sda")


def test_without_a_tool_no_drive_supports_it(drives: Host) -> None:
    found = table(Smart(drives, Tools({}), lambda tool: None).read(Everything()))
    assert set(found.values()) == {"UNSUPPORTED"}
    assert len(found) == 4


def test_nothing_is_asked_when_nothing_is_due(drives: Host) -> None:
    tools = Tools({})
    assert Smart(drives, tools, lambda tool: tool).read({"disk_io_seconds_total"}) == []
    assert tools.asked == {}


@pytest.mark.parametrize(
    ("held", "health"),
    [
        (SMART_NVME, Health(0.0, 0.0)),  # used beyond its rating
        (SMART_ATA, Health(None, 2.0)),
        (SMART_SCSI, Health(0.95, 5.0)),
        ({"smartctl": {}, "endurance_used": {"current_percent": 25}}, Health(0.75, None)),
    ],
)
def test_smartctl_speaks_of_all_kinds_of_drives(held: dict[str, object], health: Health) -> None:
    assert of_smartctl(held) == health


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(None), Outcome.FAILED),  # killed at its deadline
        (page(UNKNOWN, 2), Outcome.UNSUPPORTED),
        (Answer(1, 0.1, b"Permission denied"), Outcome.FAILED),
        (Answer(0, 0.1, b'{"media_err'), Outcome.FAILED),
        (Answer(0, 0.1, b""), Outcome.FAILED),
        (Answer(0, 0.1, b"[1]"), Outcome.FAILED),
    ],
)
def test_no_reading_is_told_apart_from_no_notion(answer: Answer, outcome: Outcome) -> None:
    assert judge("sda", answer) is outcome
