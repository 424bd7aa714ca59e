"""Shared storage and local disks: who waits for it, what it serves, how full it is."""

from dashboards.metrics import grown, of, rate
from dashboards.shapes import CLUSTER, NODE, NONE_IS_GOOD, lines, series, spread, stat
from dashboards.spec import BAD, FAIR, GOOD, Column, Dashboard, Panel, Query, Section, Step
from forewarn.language import Text

_FULL: tuple[Step, ...] = ((GOOD, None), (FAIR, 0.85), (BAD, 0.95))
_MOUNT = "{{node}} {{mountpoint}}"
_TARGET = "{{storage_target}}"


def _slowest(name: str) -> str:
    return f"topk(10, {of(name)})"


_NOW = Section((
    stat(Text("Mounts probed", "探测的挂载"), f"count({of('storage_mount_probe_seconds')})",
         "short"),
    stat(Text("Slowest probe", "最慢探测"), f"max({of('storage_mount_probe_seconds')})",
         steps=((GOOD, None), (FAIR, 0.1), (BAD, 1.0))),
    stat(Text("Operation, median", "文件操作中位时延"),
         f"quantile(0.5, {of('storage_operation_latency_seconds')})"),
    stat(Text("Read from targets", "存储读"), f"sum({rate('storage_read_bytes_total')})"),
    stat(Text("Written to targets", "存储写"), f"sum({rate('storage_write_bytes_total')})"),
    stat(Text("Fullest target", "最满存储目标"), f"max({of('storage_target_used_ratio')})",
         steps=_FULL),
    stat(Text("Fullest file system", "最满本地文件系统"),
         f"max({of('node_filesystem_used_ratio')})", steps=_FULL),
    stat(Text("Errors of targets", "存储目标错误"), f"sum({grown('storage_errors_total')})",
         "short", NONE_IS_GOOD),
))  # fmt: skip

_CLIENTS = Section(
    (
        spread(Text("File operation", "文件操作时延"), "storage_operation_latency_seconds",
               "node, mountpoint"),
        series(Text("Slowest mounts", "最慢的十个挂载"),
               _slowest("storage_operation_latency_seconds"), _MOUNT,
               about=Text("One alone points at its node, all at the storage.",
                          "单个偏慢指向其节点，普遍偏慢指向存储端。")),
        series(Text("Wait for a slot of the client", "等待客户端请求槽位"),
               _slowest("storage_rpc_slot_wait_seconds"), _MOUNT,
               about=Text("Long waits while the server is quick: too few slots.",
                          "服务端很快而等待很长：槽位不足。")),
        series(Text("Requests held back, the ten worst", "积压请求最多的十个挂载"),
               f"topk(10, {rate('storage_rpc_backlogged_requests_total')})", _MOUNT),
        series(Text("Operations by node", "各节点文件操作"),
               f"sum by (node) ({rate('storage_operations_total')})", "{{node}}"),
        series(Text("Probe of the mounts, the ten slowest", "挂载探测最慢的十个"),
               _slowest("storage_mount_probe_seconds"), _MOUNT),
    ),
    Text("As the nodes see it", "节点侧"),
)  # fmt: skip

_TARGETS = Panel(
    kind="table",
    title=Text("Storage targets", "存储目标"),
    width=24,
    height=7,
    keys=(("storage_target", Text("Target", "存储目标")),),
    columns=(
        Column(Text("Busy", "繁忙占比"),
               f"max by (storage_target) ({rate('storage_target_io_seconds_total')})",
               steps=((GOOD, None), (FAIR, 0.8), (BAD, 0.95))),
        Column(Text("Read", "读"), f"sum by (storage_target) ({rate('storage_read_bytes_total')})"),
        Column(Text("Written", "写"),
               f"sum by (storage_target) ({rate('storage_write_bytes_total')})"),
        Column(Text("Used", "已用"),
               f"max by (storage_target) ({of('storage_target_used_ratio')})", steps=_FULL),
        Column(Text("Errors", "错误"),
               f"sum by (storage_target) ({grown('storage_errors_total')})", "short", NONE_IS_GOOD),
    ),
)  # fmt: skip

_SERVERS = Section(
    (
        _TARGETS,
        lines(Text("Moved by all targets", "全部存储目标吞吐"), (
            Query(f"sum({rate('storage_read_bytes_total')})", Text("read", "读")),
            Query(f"sum({rate('storage_write_bytes_total')})", Text("written", "写")),
        ), width=12),
        series(Text("Share of time targets are busy", "存储目标繁忙时间占比"),
               f"max by (storage_target) ({rate('storage_target_io_seconds_total')})", _TARGET,
               width=12, most=1.0),
    ),
    Text("As the targets see it", "存储侧"),
)  # fmt: skip

_LOCAL = Section(
    (
        series(Text("Fullest file systems", "最满的十个本地文件系统"),
               _slowest("node_filesystem_used_ratio"), _MOUNT, most=1.0),
        series(Text("Fewest inodes left", "inode 使用最多的十个"),
               _slowest("node_filesystem_inodes_used_ratio"), _MOUNT, most=1.0),
        series(Text("Pressure of storage, the ten worst nodes", "存储压力最大的十个节点"),
               f"topk(10, {rate('node_pressure_io_seconds_total')})", "{{node}}",
               about=Text("Share of time in which some task waited for storage.",
                          "有任务等待存储的时间占比。")),
    ),
    Text("Local", "本地"),
)  # fmt: skip

STORAGE = Dashboard(
    name="storage",
    title=Text("Forewarn · Storage", "Forewarn · 存储"),
    about=Text("Shared mounts and their targets, local file systems: who waits, what is full.",
               "共享挂载与存储目标、本地文件系统：谁在等待、哪里将满。"),
    variables=(CLUSTER, NODE),
    sections=(_NOW, _CLIENTS, _SERVERS, _LOCAL),
)  # fmt: skip
