"""Secrets are masked before a text leaves the node."""

import re

MAX_BYTES = 2048
# No unbounded repetition before a fixed word: a text of any kind is read in linear time.
_USERINFO = re.compile(r"://[^\s/@]{1,512}@")
_VALUE = re.compile(
    r"(?P<name>(?:key|token|password|passwd|secret)[\"']?)(?P<sign>\s{0,3}[=:]\s{0,3})"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)",
    re.IGNORECASE,
)


def mask(text: str) -> str:
    """Return the text with URL userinfo and values of `key= token= password= secret=` masked."""
    return _VALUE.sub(r"\g<name>\g<sign>***", _USERINFO.sub("://***@", text))


def shorten(text: str, limit: int = MAX_BYTES) -> str:
    """Return at most `limit` bytes of UTF-8, cut between characters."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
