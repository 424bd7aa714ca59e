"""How grave an NVIDIA Xid is: what its maker says to do at once (Xid catalogue, 2026)."""

from forewarn.records import Severity

# Immediate action "reset GPU", "restart bare metal", or the double-bit error of workflow 48: the
# device is out until somebody acts.
CRITICAL = frozenset({46, 48, 62, 64, 79, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158})
# Immediate action "ignore", and 45, which follows another Xid.
MINOR = frozenset(
    {14, 37, 38, 43, 44, 45, 63, 66, 67, 92, 93, 106, 107, 108, 121, 137, 141, 157, 160, 161}
)


def severity(xid: int) -> Severity:
    """Return the severity; all others (restart the application, decode the link) are major."""
    if xid in CRITICAL:
        return "critical"
    return "minor" if xid in MINOR else "major"
