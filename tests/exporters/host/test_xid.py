import pytest

from exporters.host import xid


@pytest.mark.parametrize(
    ("code", "severity"),
    [(79, "critical"), (48, "critical"), (95, "critical"), (13, "major"), (31, "major"),
     (43, "minor"), (45, "minor"), (63, "minor"), (149, "major"), (9999, "major")],
)  # fmt: skip
def test_severity_follows_the_makers_immediate_action(code: int, severity: str) -> None:
    assert xid.severity(code) == severity


def test_no_xid_is_both() -> None:
    assert not xid.CRITICAL & xid.MINOR
