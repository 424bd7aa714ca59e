"""What is told of the node in the inventory: its kernel, processor and boot."""

import os
from pathlib import Path


def boot_id(proc: Path) -> str:
    """Return the kernel's name for this boot; empty where /proc has none."""
    path = proc / "sys/kernel/random/boot_id"
    return path.read_text(encoding="ascii").strip() if path.exists() else ""


def processor_model(cpuinfo: str) -> str:
    """Return the `model name` of /proc/cpuinfo; empty where the architecture has none."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return ""


def attributes(proc: Path) -> dict[str, str]:
    """Return the facts of the node; those that are not known are left out."""
    cpuinfo = proc / "cpuinfo"
    found = {
        "kernel": os.uname().release,
        "architecture": os.uname().machine,
        "processor": processor_model(cpuinfo.read_text(encoding="utf-8", errors="replace"))
        if cpuinfo.exists()
        else "",
        "boot_id": boot_id(proc),
    }
    return {key: value for key, value in found.items() if value}
