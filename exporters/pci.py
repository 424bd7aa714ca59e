"""PCI addresses in the one spelling that entities use."""

import re

_ADDRESS = re.compile(
    r"(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<place>[0-9a-f]{2}:[0-9a-f]{2})(?P<function>\.\d)?"
)


def slot(text: str) -> str:
    """Return a PCI address as entities spell it: `0000:1a:00.0`; other text is left as it is.

    The NVIDIA driver leaves the function out, and NVML writes the domain with eight digits.
    """
    match = _ADDRESS.fullmatch(text.lower())
    if match is None:
        return text
    domain = (match["domain"] or "").lstrip("0").rjust(4, "0")
    return f"{domain}:{match['place']}{match['function'] or '.0'}"
