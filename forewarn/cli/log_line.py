"""Which code a pasted line of a kernel or training log stands for."""

import re

# What `dmesg`, `dmesg -T`, syslog and journalctl put before a line of the kernel.
_PREFIX = re.compile(r"^(?:<\d+>)?(?:\[[^\]]*\d:?[^\]]*\] ?|.{0,80}? kernel: (?:\[ *[\d.]+\] )?)")


def code(text: str) -> str:
    """Return the code of a line as the agent would read it; empty for any other text."""
    from exporters.host import kernel_rules
    from exporters.job import error_lines

    for line in (text.strip(), _PREFIX.sub("", text.strip(), count=1)):
        hit = kernel_rules.match(line)
        if hit is not None:
            return hit.code
    error = error_lines.read(text, 0)
    return error[0].code if error else ""
