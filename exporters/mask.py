"""Secrets are masked before a text leaves the node."""

import re

MAX_BYTES = 2048
_USERINFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@]+@")
_VALUE = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]*(?:key|token|password|passwd|secret))(?P<sign>\s*[=:]\s*)"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)",
    re.IGNORECASE,
)


def mask(text: str) -> str:
    """Return the text with URL userinfo and values of `key= token= password= secret=` masked."""
    return _VALUE.sub(r"\g<name>\g<sign>***", _USERINFO.sub(r"\g<scheme>***@", text))


def shorten(text: str, limit: int = MAX_BYTES) -> str:
    """Return at most `limit` bytes of UTF-8, cut between characters."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
