"""A stream of bytes becomes lines; none is longer than the limit, whatever comes in."""


class Splitter:
    """Cuts a stream of bytes into lines; a line beyond the limit is passed over and counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> tuple[list[bytes], int]:
        """Return the lines completed by `data`, and how many too long ones ended or began here."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        too_long = 0
        if self._skipping and lines:
            lines = lines[1:]
            self._skipping = False
        too_long += sum(len(line) > self._limit for line in lines)
        if len(self._rest) > self._limit or (self._skipping and self._rest):
            too_long += not self._skipping
            self._skipping, self._rest = True, b""
        return [line for line in lines if len(line) <= self._limit], too_long
