"""The fleet: is anything wrong, where is it, and how hard is everything working."""

from dashboards.metrics import of, rate
from dashboards.shapes import (
    CLUSTER,
    JOBS,
    NODE,
    NONE_IS_GOOD,
    UP,
    lines,
    series,
    spread,
    stat,
    states,
)
from dashboards.spec import BAD, FAIR, GOOD, Column, Dashboard, Link, Panel, Query, Section
from forewarn.language import Text

_SERIOUS = 'severity=~"major|critical"'

_NOW = Section((
    stat(Text("Nodes", "节点"), f"count(count by (node) ({of('node_cpu_utilization_ratio')}))",
         "short"),
    stat(Text("GPUs", "GPU"), f"sum({of('node_gpus_present')})"),
    stat(Text("GPUs missing", "缺失 GPU"),
         f"sum({of('node_gpus_expected')}) - sum({of('node_gpus_present')})", "short",
         NONE_IS_GOOD),
    stat(Text("Serious incidents", "严重事件"), f"sum({of('forewarn_incidents_open', _SERIOUS)})",
         steps=NONE_IS_GOOD),
    stat(Text("Ports down", "断开的端口"), f"sum({of('nic_link_up')} == bool 0)", "short",
         NONE_IS_GOOD),
    stat(Text("GPU utilisation", "GPU 利用率"), f"avg({of('gpu_utilization_ratio')})"),
    stat(Text("Power of all nodes", "全部节点功率"), f"sum({of('node_power_watts')})"),
    stat(Text("Hottest GPU", "最高 GPU 温度"), f"max({of('gpu_temperature_celsius')})",
         steps=((GOOD, None), (FAIR, 80.0), (BAD, 87.0))),
))  # fmt: skip

_WRONG = Section(
    (
        series(Text("Open incidents", "未关闭的事件"),
               f"sum by (severity) ({of('forewarn_incidents_open')})", "{{severity}}", stacked=True,
               width=12),
        Panel(kind="alerts", title=Text("Alerts", "告警"), width=12,
              about=Text("What the rules of Prometheus and Grafana say.",
                         "Prometheus 与 Grafana 规则当前的告警。")),
    ),
    Text("What is wrong", "哪里有问题"),
)  # fmt: skip

_NODES = Panel(
    kind="table",
    title=Text("Nodes", "节点"),
    about=Text("A name leads to the node's GPUs.", "点击节点名查看其 GPU。"),
    width=24,
    height=10,
    keys=(("node", Text("Node", "节点")),),
    columns=(
        Column(Text("GPU utilisation", "GPU 利用率"),
               f"avg by (node) ({of('gpu_utilization_ratio')})"),
        Column(Text("Hottest GPU", "最高 GPU 温度"),
               f"max by (node) ({of('gpu_temperature_celsius')})",
               steps=((GOOD, None), (FAIR, 80.0), (BAD, 87.0))),
        Column(Text("Least margin", "最小温度余量"),
               f"min by (node) ({of('gpu_temperature_margin_celsius')})",
               steps=((BAD, None), (FAIR, 3.0), (GOOD, 8.0))),
        Column(Text("Power", "功率"), f"sum by (node) ({of('node_power_watts')})"),
        Column(Text("Inlet", "进风温度"),
               f"max by (node) ({of('node_inlet_temperature_celsius')})"),
        Column(Text("GPUs missing", "缺失 GPU"),
               f"sum by (node) ({of('node_gpus_expected')})"
               f" - sum by (node) ({of('node_gpus_present')})", "short", NONE_IS_GOOD),
        Column(Text("Ports down", "断开的端口"), f"sum by (node) ({of('nic_link_up')} == bool 0)",
               "short", NONE_IS_GOOD),
        Column(Text("Symbol errors", "符号错误"),
               f"sum by (node) ({rate('nic_symbol_errors_total')})"),
        Column(Text("Processor", "处理器"), f"avg by (node) ({of('node_cpu_utilization_ratio')})"),
    ),
    links=(Link("node", "gpu", "node"),),
)  # fmt: skip

_JOBS = Panel(
    kind="table",
    title=Text("Jobs", "作业"),
    about=Text("A name leads to the job.", "点击作业名查看该作业。"),
    width=24,
    height=7,
    keys=(("job", Text("Job", "作业")),),
    columns=(
        Column(Text("Loss", "损失"), f"max by (job) ({of('job_loss')})"),
        Column(Text("Step", "步时"), f"max by (job) ({of('job_step_seconds')})"),
        Column(Text("MFU", "MFU"), f"max by (job) ({of('job_mfu_ratio')})"),
        Column(Text("Tokens", "吞吐"), f"max by (job) ({of('job_tokens_per_second')})"),
        Column(Text("Steps done", "已完成步数"),
               f"max by (job) ({of('job_completed_steps_total')})", "short"),
        Column(Text("Ranks", "进程数"), f"count by (job) ({of('rank_step_seconds')})", "short"),
    ),
    links=(Link("job", "job", "job"),),
)  # fmt: skip

_HEAT = Section(
    (
        Panel(kind="heat", title=Text("Temperature of all GPUs", "全部 GPU 温度分布"), width=12,
              queries=(Query(f"max by (node, gpu) ({of('gpu_temperature_celsius')})"),)),
        spread(Text("GPU temperature", "GPU 温度"), "gpu_temperature_celsius", "node, gpu", 12),
        series(Text("Power by node", "各节点功率"), f"sum by (node) ({of('node_power_watts')})",
               "{{node}}", stacked=True),
        series(Text("Inlet air", "进风温度"),
               f"max by (node) ({of('node_inlet_temperature_celsius')})", "{{node}}"),
        series(Text("Time held down by heat", "因过热降频的时间占比"),
               f"max by (node) ({rate('gpu_throttle_thermal_seconds_total')})", "{{node}}",
               most=1.0),
    ),
    Text("Heat and power", "温度与功率"),
)  # fmt: skip

_WORK = Section(
    (
        series(Text("GPU utilisation", "GPU 利用率"),
               f"avg by (node) ({of('gpu_utilization_ratio')})", "{{node}}", most=1.0),
        series(Text("Tensor cores", "张量核心活跃度"),
               f"avg by (node) ({of('gpu_tensor_active_ratio')})", "{{node}}", most=1.0),
        series(Text("Training throughput", "训练吞吐"),
               f"max by (job) ({of('job_tokens_per_second')})", "{{job}}"),
    ),
    Text("Work", "负载"),
)  # fmt: skip

_NETWORK = Section(
    (
        lines(Text("Traffic of the network ports", "网络端口流量"), (
            Query(f"sum({rate('nic_tx_bytes_total')})", Text("sent", "发送")),
            Query(f"sum({rate('nic_rx_bytes_total')})", Text("received", "接收")),
        )),
        series(Text("Symbol errors, the ten worst ports", "符号错误最多的十个端口"),
               f"topk(10, {rate('nic_symbol_errors_total')})", "{{node}} {{nic}}"),
        states(Text("Ports of each node", "各节点端口"), f"min by (node) ({of('nic_link_up')})",
               "{{node}}", UP, width=8,
               about=Text("Down while any port of the node is.", "节点任一端口断开即显示断。")),
    ),
    Text("Network", "网络"),
)  # fmt: skip

_HOSTS = Section(
    (
        lines(Text("Pressure, the most of any node", "资源压力（各节点最大值）"), (
            Query(f"max({rate('node_pressure_cpu_seconds_total')})", Text("processor", "处理器")),
            Query(f"max({rate('node_pressure_io_seconds_total')})", Text("storage", "存储")),
            Query(f"max({rate('node_pressure_memory_seconds_total')})", Text("memory", "内存")),
        ), about=Text("Share of time in which some task waited.", "有任务等待的时间占比。")),
        series(Text("Memory that is left", "剩余内存"),
               f"min by (node) ({of('node_memory_available_bytes')})", "{{node}}"),
        series(Text("Clock offset", "时钟偏移"),
               f"max by (node) (abs({of('node_clock_offset_seconds')}))", "{{node}}"),
    ),
    Text("Hosts", "主机"),
)  # fmt: skip

FLEET = Dashboard(
    name="fleet",
    title=Text("Forewarn · Fleet", "Forewarn · 集群总览"),
    about=Text("All nodes, GPUs, ports and jobs: is anything wrong, and where.",
               "全部节点、GPU、端口与作业：是否有异常、在哪里。"),
    variables=(CLUSTER, NODE, JOBS),
    sections=(
        _NOW, _WRONG,
        Section((_NODES, _JOBS), Text("Nodes and jobs", "节点与作业")),
        _HEAT, _WORK, _NETWORK, _HOSTS,
    ),
)  # fmt: skip
