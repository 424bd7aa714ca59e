"""Which lines of the kernel log mean what: one table, the first rule that fits wins."""

import re
from typing import Literal

import msgspec

from exporters.host import xid
from forewarn import codes
from forewarn.records import Severity

Where = Literal["node", "gpu", "nic", "nic_slot", "disk"]


class Rule(msgspec.Struct, frozen=True):
    """A line that begins with `pattern` is the event `code`, at the part of the node `where`.

    Groups of the pattern fill `{…}` in the code; `at` is the group that names the part.
    """

    pattern: re.Pattern[str]
    code: str
    severity: Severity | None
    where: Where = "node"


class Hit(msgspec.Struct, frozen=True):
    """What a line means; `at` names the part of the node (a PCI slot, an interface, a drive)."""

    code: str
    severity: Severity
    where: Where
    at: str


def _rule(pattern: str, code: str, severity: Severity | None, where: Where = "node") -> Rule:
    return Rule(re.compile(pattern), code, severity, where)


_XID = r"NVRM: Xid \((?:PCI:)?(?P<at>[0-9A-Fa-f:.]+)\): "
_PCI = r"\S+ [0-9A-Fa-f]{4,}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]: "
_AER = _PCI + r"(?:AER: )?PCIe Bus Error: severity="
_MLX5 = r"mlx5_core (?P<at>[0-9A-Fa-f:.]+)(?: \S+)?: "
_MODULE = _MLX5 + r"Port module event(?:\[error\])?: module \d+, "

# Shapes read in the drivers' and the kernel's own sources; tests hold lines of each as captured.
# Severity None: the Xid's own.
RULES = (
    # NVLink 5 (Xid 144 to 150): unit and class as the driver prints them; its bit fields depend on
    # the driver, so they stay in the text.
    _rule(_XID + r"(?P<xid>14[4-9]|150), (?:pid=[^,]*, name=[^,]*, )?"
          r"(?P<unit>[A-Z][A-Z0-9_]*) (?P<rank>Fatal|Nonfatal) ",
          "nvidia.xid:{xid}/{unit}/{rank}", None, "gpu"),
    _rule(_XID + r"(?P<xid>\d{1,4})(?:,|$)", "nvidia.xid:{xid}", None, "gpu"),
    _rule(r"nvidia-nvswitch\d+: SXid \(PCI:[0-9A-Fa-f:.]+\): (?P<sxid>\d{1,6}), Fatal",
          "nvidia.sxid:fatal/{sxid}", "critical"),
    _rule(r"nvidia-nvswitch\d+: SXid \(PCI:[0-9A-Fa-f:.]+\): (?P<sxid>\d{1,6}), Non-fatal",
          "nvidia.sxid:non_fatal/{sxid}", "minor"),
    _rule(_AER + r"Correct(?:ed|able)", "kernel.aer:corrected", "minor"),
    _rule(_AER + r"Uncorrect(?:ed|able) \(Non-Fatal\)", "kernel.aer:nonfatal", "major"),
    _rule(_AER + r"Uncorrect(?:ed|able) \(Fatal\)", "kernel.aer:fatal", "critical"),
    _rule(r"Out of memory(?: \([^)]*\))?: Kill(?:ed)? process \d+", "kernel.oom:global", "major"),
    _rule(r"Memory cgroup out of memory: Kill(?:ed)? process \d+", "kernel.oom:cgroup", "major"),
    _rule(r"INFO: task .{1,64}:\d+ blocked (?:in I/O wait )?for more than \d+ seconds",
          "kernel.event:hung_task", "major"),
    _rule(r"(?:watchdog: )?BUG: soft lockup - CPU#\d+ stuck for ",
          "kernel.event:soft_lockup", "major"),
    _rule(r"(?:NMI )?watchdog: Watchdog detected hard LOCKUP",
          "kernel.event:hard_lockup", "critical"),
    _rule(r"rcu: INFO: rcu_\w+ (?:self-)?detected (?:expedited )?stall",
          "kernel.event:rcu_stall", "major"),
    _rule(r"Kernel panic - not syncing: ", "kernel.event:panic", "critical"),
    _rule(r"(?:blk_update_request: |print_req_error: )?(?:critical )?(?:I/O|medium|target) error, "
          r"dev \S+, sector \d+", "kernel.event:io_error", "major"),
    _rule(r"EXT4-fs \(\S+\): Remounting filesystem read-only",
          "kernel.event:filesystem_read_only", "critical"),
    _rule(r"XFS \(\S+\): .*Shutting down filesystem",
          "kernel.event:filesystem_shutdown", "critical"),
    _rule(r"\{\d+\}\[Hardware Error\]: event severity: fatal",
          "kernel.event:cper_fatal", "critical"),
    _rule(r"\{\d+\}\[Hardware Error\]: event severity: recoverable",
          "kernel.event:cper_recoverable", "major"),
    _rule(r"\{\d+\}\[Hardware Error\]: event severity: corrected",
          "kernel.event:cper_corrected", "minor"),
    _rule(r"mce: \[Hardware Error\]: CPU \d+: Machine Check(?: Exception)?: ",
          "kernel.mce:exception", "critical"),
    _rule(r"mce: \[Hardware Error\]: Machine check events logged", "kernel.mce:logged", "minor"),
    _rule(r"nfs: server \S+ not responding", "kernel.event:nfs_not_responding", "major"),
    _rule(r"nfs: server \S+ OK$", "kernel.event:nfs_ok", "info"),
    _rule(_MLX5 + r".*timeout\. Will cause a leak of a command resource",
          "kernel.event:mlx5_cmd_timeout", "major"),
    _rule(_MLX5 + r".*health compromised - reached miss count",
          "nic.fw_health:compromised", "critical", "nic_slot"),
    _rule(_MODULE + r"Cable unplugged", "nic.module_event:unplugged", "major", "nic_slot"),
    _rule(_MODULE + r"Cable error, High Temperature",
          "nic.module_event:overheated", "major", "nic_slot"),
    _rule(_MODULE + r"Cable error, Power budget exceeded",
          "nic.module_event:unpowered", "major", "nic_slot"),
    _rule(r"mlx5_core [0-9A-Fa-f:.]+ (?P<at>[^\s:]+): Link down",
          "nic.link_state:down", "major", "nic"),
    _rule(r"mlx5_core [0-9A-Fa-f:.]+ (?P<at>[^\s:]+): Link up",
          "nic.link_state:active", "info", "nic"),
    _rule(r"nvme (?P<at>nvme\d+): I/O (?:tag )?\d+ .*timeout, ", "nvme.event:timeout", "major",
          "disk"),
    _rule(r"nvme (?P<at>nvme\d+): (?:Disabling device after reset|Removing after probe) failure",
          "nvme.event:disabled", "critical", "disk"),
    _rule(r"nvme (?P<at>nvme\d+): controller is down; will reset", "nvme.event:reset", "major",
          "disk"),
)  # fmt: skip


def signals(*wheres: Where) -> tuple[str, ...]:
    """Return the signals that the rules can tell of parts of these kinds."""
    return tuple(sorted({codes.namespace(rule.code) for rule in RULES if rule.where in wheres}))


def match(text: str) -> Hit | None:
    """Return what a line means, or None: most lines mean nothing to us.

    Patterns are held against the line's beginning, so that a process cannot put an event into a
    line of the kernel by its name.
    """
    for rule in RULES:
        found = rule.pattern.match(text)
        if found is not None:
            groups = found.groupdict()
            code = codes.normal(rule.code.format(**groups))
            severity = rule.severity or xid.severity(int(groups["xid"]))
            return Hit(code, severity, rule.where, groups.get("at") or "")
    return None
