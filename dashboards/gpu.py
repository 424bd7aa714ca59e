"""The GPUs of some nodes: heat, power, clocks, memory, errors, links."""

from dashboards.metrics import grown, of, rate
from dashboards.shapes import (
    CLUSTER,
    HELD,
    NODE,
    NONE_IS_GOOD,
    lines,
    series,
    stat,
    states,
)
from dashboards.spec import BAD, FAIR, GOOD, Dashboard, Query, Section, Variable
from forewarn.language import Text

_GPU = Variable("gpu", Text("GPU", "GPU"), "gpu_temperature_celsius")
_CHOSEN = 'gpu=~"$gpu"'
_EACH = "{{node}} {{gpu}}"


def _of(name: str) -> str:
    return of(name, _CHOSEN)


def _rate(name: str) -> str:
    return rate(name, _CHOSEN)


def _grown(name: str) -> str:
    return grown(name, _CHOSEN)


_NOW = Section((
    stat(Text("GPUs", "GPU"), f"count({_of('gpu_temperature_celsius')})", "short"),
    stat(Text("Hottest", "最高温度"), f"max({_of('gpu_temperature_celsius')})",
         steps=((GOOD, None), (FAIR, 80.0), (BAD, 87.0))),
    stat(Text("Least margin", "最小温度余量"), f"min({_of('gpu_temperature_margin_celsius')})",
         steps=((BAD, None), (FAIR, 3.0), (GOOD, 8.0))),
    stat(Text("Power", "功率"), f"sum({_of('gpu_power_watts')})"),
    stat(Text("Utilisation", "利用率"), f"avg({_of('gpu_utilization_ratio')})"),
    stat(Text("Memory used", "显存已用"), f"sum({_of('gpu_memory_used_bytes')})"),
    stat(Text("Uncorrected errors", "不可纠正错误"),
         f"sum({_grown('gpu_ecc_uncorrected_errors_total')})", "short", NONE_IS_GOOD),
    stat(Text("Rows to be remapped", "待重映射"), f"sum({_of('gpu_row_remap_pending')})",
         steps=NONE_IS_GOOD),
))  # fmt: skip

_HEAT = Section(
    (
        series(Text("Temperature", "核心温度"), _of("gpu_temperature_celsius"), _EACH),
        series(Text("Margin to the limit", "距降频温度的余量"),
               _of("gpu_temperature_margin_celsius"), _EACH),
        series(Text("Memory temperature", "显存温度"), _of("gpu_memory_temperature_celsius"),
               _EACH),
        series(Text("Power", "功率"), _of("gpu_power_watts"), _EACH),
        series(Text("Share of the power limit", "占功率上限的比例"),
               f"{_of('gpu_power_watts')} / {_of('gpu_power_limit_watts')}", _EACH,
               "percentunit"),
        series(Text("Core clock", "核心频率"), _of("gpu_core_clock_hertz"), _EACH),
    ),
    Text("Heat and power", "温度与功率"),
)  # fmt: skip

_HELD = Section(
    (
        states(Text("Held down by heat", "因过热降频"),
               f"{_rate('gpu_throttle_thermal_seconds_total')} > bool 0.01", _EACH, HELD,
               about=Text("Over 1 % of the time with clocks held down.", "降频时间占比超过 1%。")),
        lines(Text("Time with clocks held down", "降频时间占比"), (
            Query(f"max by (node) ({_rate('gpu_throttle_thermal_seconds_total')})",
                  Text("{{node}}: heat", "{{node}}：过热")),
            Query(f"max by (node) ({_rate('gpu_throttle_power_seconds_total')})",
                  Text("{{node}}: power limit", "{{node}}：功率上限")),
        ), width=12, most=1.0),
    ),
    Text("Held down", "降频"),
)  # fmt: skip

_WORK = Section(
    (
        series(Text("Utilisation", "利用率"), _of("gpu_utilization_ratio"), _EACH, most=1.0),
        series(Text("Tensor cores", "张量核心活跃度"), _of("gpu_tensor_active_ratio"), _EACH,
               most=1.0),
        series(Text("Memory controller", "显存控制器"), _of("gpu_memory_controller_busy_ratio"),
               _EACH, most=1.0),
        series(Text("Memory used", "显存已用"), _of("gpu_memory_used_bytes"), _EACH),
        lines(Text("PCIe traffic", "PCIe 流量"), (
            Query(f"sum by (node) ({_of('gpu_pcie_tx_bytes_per_second')})",
                  Text("{{node}} sent", "{{node}} 发送")),
            Query(f"sum by (node) ({_of('gpu_pcie_rx_bytes_per_second')})",
                  Text("{{node}} received", "{{node}} 接收")),
        )),
        series(Text("Traffic between GPUs", "GPU 间互联流量"),
               f"sum by (node) ({_of('scale_up_tx_bytes_per_second')})", "{{node}}"),
    ),
    Text("Work", "负载"),
)  # fmt: skip

_ERRORS = Section(
    (
        series(Text("Corrected memory errors", "可纠正显存错误"),
               _rate("gpu_ecc_corrected_errors_total"), _EACH),
        series(Text("Uncorrected memory errors", "不可纠正显存错误"),
               _rate("gpu_ecc_uncorrected_errors_total"), _EACH),
        series(Text("Rows remapped", "已重映射的行"), _of("gpu_row_remap_corrected_rows_total"),
               _EACH),
        series(Text("PCIe replays", "PCIe 重传"), _rate("gpu_pcie_replays_total"), _EACH),
        series(Text("PCIe width", "PCIe 链路宽度"), _of("gpu_pcie_link_width"), _EACH,
               about=Text("Lanes in use; fewer than usual is a fault.",
                          "在用通道数，减少即异常。")),
        series(Text("Energy", "能耗速率"), _rate("gpu_energy_joules_total"), _EACH,
               about=Text("From the energy counter: the mean power, spikes included.",
                          "由能量计数器得到的平均功率，含尖峰。")),
    ),
    Text("Errors and links", "错误与链路"),
)  # fmt: skip

GPU = Dashboard(
    name="gpu",
    title=Text("Forewarn · GPU", "Forewarn · GPU"),
    about=Text("Each GPU of the chosen nodes: heat, power, clocks, memory, errors, links.",
               "所选节点的每块 GPU：温度、功率、频率、显存、错误与链路。"),
    variables=(CLUSTER, NODE, _GPU),
    sections=(_NOW, _HEAT, _HELD, _WORK, _ERRORS),
)  # fmt: skip
