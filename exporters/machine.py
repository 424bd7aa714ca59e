"""What is told of the node in the inventory: its kernel, processor and boot."""

import os
from pathlib import Path

from exporters.collector import Host


def boot_id(proc: Path) -> str:
    """Return the kernel's name for this boot; empty where /proc has none."""
    return _text(proc / "sys/kernel/random/boot_id")


def _text(path: Path) -> str:
    """Return a file's text; empty where it is not there."""
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""


def processor_model(cpuinfo: str) -> str:
    """Return the `model name` of /proc/cpuinfo; empty where the architecture has none."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return ""


def attributes(host: Host) -> dict[str, str]:
    """Return the facts of the node; those that are not known are left out."""
    firmware = host.sys / "class/dmi/id"
    found = {
        "kernel": os.uname().release,
        "architecture": os.uname().machine,
        "processor": processor_model(_text(host.proc / "cpuinfo")),
        "boot_id": boot_id(host.proc),
        "vendor": _text(firmware / "sys_vendor"),
        "model": _text(firmware / "product_name"),
    }
    return {key: value for key, value in found.items() if value}
