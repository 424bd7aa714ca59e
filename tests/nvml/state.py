"""The state that the stand-in library answers from, as standin.c lays it out."""

import ctypes

GPUS, FIELDS, SCOPES, METRICS, SLICES, PROCESSES, XIDS = 8, 320, 20, 128, 8, 8, 64
ALL_LINKS = 18
NONE = 0xFFFF_FFFF
U64, I64, F64 = ctypes.c_uint64, ctypes.c_int64, ctypes.c_double


class Slice(ctypes.Structure):
    _fields_ = (
        ("exists", U64), ("instance", U64), ("compute", U64), ("used", U64), ("total", U64),
        ("gpm", F64 * METRICS), ("uuid", ctypes.c_char * 64),
    )  # fmt: skip


class Gpu(ctypes.Structure):
    _fields_ = (
        ("bus_id", ctypes.c_char * 32), ("uuid", ctypes.c_char * 64),
        ("serial", ctypes.c_char * 32), ("model", ctypes.c_char * 64),
        ("vbios", ctypes.c_char * 32), ("missing", ctypes.c_char * 1024),
        ("error", U64), ("blocked", U64), ("waiting", U64), ("calls", U64),
        ("busy", U64), ("memory_busy", U64), ("used", U64), ("total", U64), ("reserved", U64),
        ("temperature", I64), ("slowdown", I64), ("margin", I64),
        ("milliwatts", U64), ("limit", U64), ("default_limit", U64), ("reasons", U64),
        ("sm_megahertz", U64), ("memory_megahertz", U64),
        ("generation", U64), ("generation_max", U64), ("width", U64), ("width_max", U64),
        ("pcie_kilobytes", U64),
        ("histogram", U64 * 5), ("sram", U64 * 12), ("fabric", U64), ("link_up", U64 * SCOPES),
        ("known", (U64 * FIELDS) * SCOPES), ("field", (U64 * FIELDS) * SCOPES),
        ("gpm_supported", U64), ("gpm", F64 * METRICS),
        ("mig", U64), ("slices", Slice * SLICES),
        ("processes", U64), ("pids", U64 * PROCESSES), ("instances", U64 * PROCESSES),
    )  # fmt: skip


class Xid(ctypes.Structure):
    _fields_ = (("gpu", U64), ("code", U64), ("instance", U64))


class State(ctypes.Structure):
    _fields_ = (
        ("driver_error", U64), ("driver_epoch", U64), ("gpus", U64), ("registered", U64),
        ("xids", U64), ("xid", Xid * XIDS), ("gpu", Gpu * GPUS),
    )  # fmt: skip
