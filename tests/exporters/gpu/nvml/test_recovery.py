from exporters.gpu.nvml.recovery import ACTIONS, Recovery
from forewarn.catalogue import CATALOGUE


def test_a_change_is_told_once_and_back() -> None:
    recovery = Recovery()
    found = [h.code for action in (0, 0, 1, 1, 4, 0) for h in recovery.see(action)]
    assert found == [
        "gpu.recovery_action:reset",
        "gpu.recovery_action:drain_and_reset",
        "gpu.recovery_action:none",
    ]


def test_an_action_of_a_newer_driver_is_told_by_its_number() -> None:
    [found] = Recovery().see(42)
    assert (found.code, found.severity) == ("gpu.recovery_action:unknown_42", "major")


def test_every_action_is_in_the_catalogue() -> None:
    text = CATALOGUE["gpu.recovery_action"].help.en
    assert all(name in text for name, _ in ACTIONS.values())
