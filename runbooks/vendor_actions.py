"""What NVIDIA's Xid sheet says to do at once, per code: held against the actions of entries.

Regrouped from the sheet behind https://docs.nvidia.com/deploy/xid-errors (codes that are valid on
at least one of A100, H100, B100, GB200). Codes 144 to 150 must be decoded by sub-code first.
"""

from collections.abc import Mapping

import msgspec

from forewarn import codes as code_names
from forewarn.language import Text
from runbooks.model import Verb

SOURCE = "NVIDIA Xid sheet"


class Bucket(msgspec.Struct, frozen=True):
    """One of the sheet's actions: what it means, and the verbs that agree with it."""

    says: Text
    verbs: frozenset[Verb]


_WATCH: frozenset[Verb] = frozenset({"observe", "diagnose", "none", "escalate"})
_RESTART: frozenset[Verb] = frozenset({"restart_job", "stop_job", "rollback_checkpoint"})
_TAKE_OUT: frozenset[Verb] = _WATCH | frozenset({"drain_node", "move_job"})
_RESET: frozenset[Verb] = frozenset({"reset_gpu", "stop_job"})
_REBOOT: frozenset[Verb] = frozenset({"reboot_node", "power_cycle_node"})
_CONTACT: frozenset[Verb] = frozenset({"contact_vendor"})
_RESEAT: frozenset[Verb] = frozenset({"reseat"})
_UPDATE: frozenset[Verb] = frozenset({"update"})
BUCKETS: Mapping[str, Bucket] = {
    "RESTART_APP": Bucket(Text("restart the application", "重启应用"), _WATCH | _RESTART),
    "IGNORE": Bucket(Text("ignore", "可忽略"), _WATCH),
    "RESET_GPU": Bucket(Text("reset the GPU", "复位 GPU"), _TAKE_OUT | _RESET),
    "RESTART_BM": Bucket(
        Text("reboot the machine", "重启物理机"),
        _TAKE_OUT | _REBOOT,
    ),
    "RESTART_VM": Bucket(Text("restart the virtual machine", "重启虚拟机"), _TAKE_OUT),
    "CONTACT_SUPPORT": Bucket(Text("contact support", "联系厂商支持"), _TAKE_OUT | _CONTACT),
    "CHECK_MECHANICALS": Bucket(
        Text("check power cables and seating", "检查供电线与安装"),
        _TAKE_OUT | _RESEAT,
    ),
    "UPDATE_SWFW": Bucket(Text("update software or firmware", "升级软件或固件"), _WATCH | _UPDATE),
    "CHECK_UVM": Bucket(Text("check unified memory", "检查统一内存"), _WATCH | _RESTART),
    "DECODE": Bucket(Text("decode the sub-code first", "先解码子码"), frozenset()),
    "WORKFLOW": Bucket(Text("follow the code's own workflow", "按该代码的专用流程"), frozenset()),
    "FOLLOW_OTHER": Bucket(Text("follow the other Xid", "以伴随的其他 Xid 为准"), _WATCH),
}
_SHEET = {
    "RESTART_APP": "8 11 13 25 31 32 39 40 41 60 68 69 70 71 72 75 76 77 80 82 83 84 85 86 88 89 94"
    " 96 97 98 99 100 101 102 103 104 105 126 127 128 129 130 131 132 133 134 135 139",
    "IGNORE": "14 37 38 43 44 63 66 67 92 93 106 107 108 121 137 141 157 160 161",
    "RESET_GPU": "46 62 64 95 109 110 119 120 136 140 143 155 156 158",
    "DECODE": "144 145 146 147 148 149 150",
    "FOLLOW_OTHER": "45",
    "WORKFLOW": "48 74 154",
    "CHECK_MECHANICALS": "54",
    "UPDATE_SWFW": "78",
    "RESTART_BM": "79",
    "CONTACT_SUPPORT": "142",
    "RESTART_VM": "151",
    "CHECK_UVM": "159",
}
IMMEDIATE: Mapping[str, str] = {
    f"nvidia.xid:{number}": bucket
    for bucket, numbers in _SHEET.items()
    for number in numbers.split()
}


def bucket(code: str) -> Bucket | None:
    """Return what the sheet says for a code (its sub-code aside), if anything."""
    own = IMMEDIATE.get(code.partition("/")[0])
    return BUCKETS[own] if own else None


def advice_text(code: str) -> Text | None:
    """Return the sheet's advice for a code as a sentence."""
    own = bucket(code)
    if own is None or code_names.namespace(code) != "nvidia.xid":
        return None
    number = code.partition(":")[2]
    return Text(
        f"{SOURCE} on Xid {number}, immediate action: {own.says.en}.",
        f"英伟达 Xid 表对 Xid {number} 的即时处理建议：{own.says.zh}。",
    )
