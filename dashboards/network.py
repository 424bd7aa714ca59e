"""The network ports of some nodes: traffic, errors, congestion, optics, links."""

from dashboards.metrics import grown, of, rate
from dashboards.shapes import CLUSTER, NODE, NONE_IS_GOOD, UP, lines, series, stat, states
from dashboards.spec import Column, Dashboard, Panel, Query, Section
from forewarn.language import Text

_EACH = "{{node}} {{nic}}"


def _each(expr: str) -> str:
    return f"max by (node, nic, port) ({expr})"


def _worst(name: str) -> str:
    return f"topk(10, {rate(name)})"


_NOW = Section((
    stat(Text("Ports", "端口"), f"count({of('nic_link_up')})", "short"),
    stat(Text("Ports down", "断开的端口"), f"sum({of('nic_link_up')} == bool 0)", "short",
         NONE_IS_GOOD),
    stat(Text("Ports below their speed", "降速的端口"),
         f"sum({of('nic_link_speed_bytes_per_second')}"
         f" < bool {of('nic_link_speed_max_bytes_per_second')})", "short", NONE_IS_GOOD),
    stat(Text("Sent", "发送"), f"sum({rate('nic_tx_bytes_total')})"),
    stat(Text("Received", "接收"), f"sum({rate('nic_rx_bytes_total')})"),
    stat(Text("Links lost", "断链次数"), f"sum({grown('nic_link_downed_total')})", "short",
         NONE_IS_GOOD),
    stat(Text("Retrained", "重新训练次数"), f"sum({grown('nic_link_recoveries_total')})", "short"),
    stat(Text("Hottest optics", "最高光模块温度"),
         f"max({of('nic_optical_temperature_celsius')})"),
))  # fmt: skip

_TRAFFIC = Section(
    (
        lines(Text("Traffic by node", "各节点流量"), (
            Query(f"sum by (node) ({rate('nic_tx_bytes_total')})",
                  Text("{{node}} sent", "{{node}} 发送")),
            Query(f"sum by (node) ({rate('nic_rx_bytes_total')})",
                  Text("{{node}} received", "{{node}} 接收")),
        ), width=12),
        series(Text("Busiest port over the median of its node", "最忙端口与本节点中位数之比"),
               f"max by (node) ({rate('nic_tx_bytes_total')})"
               f" / quantile by (node) (0.5, {rate('nic_tx_bytes_total')})", "{{node}}", "short",
               width=12, about=Text("1 is even; training spreads its traffic over all ports.",
                                    "1 为均衡；训练流量应均匀分布于各端口。")),
    ),
    Text("Traffic", "流量"),
)  # fmt: skip

_ERRORS = Section(
    (
        series(Text("Symbol errors, the ten worst", "符号错误最多的十个端口"),
               _worst("nic_symbol_errors_total"), _EACH),
        series(Text("Packets spoiled, the ten worst", "损坏报文最多的十个端口"),
               _worst("nic_rx_errors_total"), _EACH),
        series(Text("Discarded and dropped", "丢弃的报文"),
               f"sum by (node) ({rate('nic_tx_discards_total')} + {rate('nic_rx_drops_total')})",
               "{{node}}"),
        series(Text("Waiting to send, the ten worst", "等待发送最久的十个端口"),
               _worst("nic_tx_wait_ticks_total"), _EACH,
               about=Text("Congestion: data is there and may not be sent.",
                          "拥塞：有数据但不能发送。")),
        series(Text("Retrainings, the ten worst", "重新训练最多的十个端口"),
               _worst("nic_link_recoveries_total"), _EACH),
        series(Text("Carrier changes, the ten worst", "载波变化最多的十个端口"),
               _worst("nic_carrier_changes_total"), _EACH),
    ),
    Text("Errors and congestion", "错误与拥塞"),
)  # fmt: skip

_OPTICS = Section(
    (
        series(Text("Light received, the ten weakest", "接收光功率最弱的十个端口"),
               f"bottomk(10, {of('nic_optical_rx_power_watts')})", _EACH),
        series(Text("Hottest optics", "温度最高的光模块"),
               f"topk(10, {of('nic_optical_temperature_celsius')})", _EACH),
        states(Text("Ports of each node", "各节点端口"), f"min by (node) ({of('nic_link_up')})",
               "{{node}}", UP, width=8,
               about=Text("Down while any port of the node is.", "节点任一端口断开即显示断。")),
    ),
    Text("Optics and links", "光模块与链路"),
)  # fmt: skip

_PORTS = Panel(
    kind="table", title=Text("Ports", "端口"), width=24, height=12,
    keys=(("node", Text("Node", "节点")), ("nic", Text("Adapter", "网卡")),
          ("port", Text("Port", "端口"))),
    columns=(
        Column(Text("Sent", "发送"), _each(rate("nic_tx_bytes_total"))),
        Column(Text("Received", "接收"), _each(rate("nic_rx_bytes_total"))),
        Column(Text("Symbol errors", "符号错误"), _each(rate("nic_symbol_errors_total"))),
        Column(Text("Spoiled", "损坏"), _each(rate("nic_rx_errors_total"))),
        Column(Text("Light received", "接收光功率"), _each(of("nic_optical_rx_power_watts"))),
        Column(Text("Optics", "光模块温度"), _each(of("nic_optical_temperature_celsius"))),
    ),
)  # fmt: skip

NETWORK = Dashboard(
    name="network",
    title=Text("Forewarn · Network", "Forewarn · 网络"),
    about=Text("Each port of the chosen nodes: traffic, errors, congestion, optics, links.",
               "所选节点的每个端口：流量、错误、拥塞、光模块与链路。"),
    variables=(CLUSTER, NODE),
    sections=(_NOW, _TRAFFIC, _ERRORS, _OPTICS, Section((_PORTS,))),
)  # fmt: skip
