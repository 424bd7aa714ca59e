"""Forewarn itself: does every stage keep up, is everything told, do all collectors read."""

from dashboards.metrics import grown, of, rate
from dashboards.shapes import (
    CLUSTER,
    NODE,
    NONE_IS_GOOD,
    ONE_IS_GOOD,
    UP,
    WORKS,
    lines,
    series,
    stat,
    states,
)
from dashboards.spec import FAIR, GOOD, Dashboard, Panel, Query, Section
from forewarn.language import Text

_NOW = Section((
    stat(Text("Agents", "采集器"), f"sum({of('agent_up')})"),
    stat(Text("Kafka", "Kafka"), f"min({of('forewarn_bus_up')})", steps=ONE_IS_GOOD),
    stat(Text("Detect lags by", "检测积压"), f"sum({of('forewarn_detect_lag_messages')})",
         steps=((GOOD, None), (FAIR, 1000.0))),
    stat(Text("Samples scored", "评分速率"), f"sum({rate('forewarn_samples_total')})"),
    stat(Text("Findings open", "未关闭的发现"), f"sum({of('forewarn_findings_open')})"),
    stat(Text("Incidents open", "未关闭的事件"), f"sum({of('forewarn_incidents_open')})"),
    stat(Text("Waiting to be told", "待投递"), f"sum({of('forewarn_outbox_pending')})",
         steps=((GOOD, None), (FAIR, 10.0))),
    stat(Text("Dead letters", "死信"), f"sum({grown('forewarn_dead_letters_total')})", "short",
         NONE_IS_GOOD),
))  # fmt: skip

_BUS = Section(
    (
        series(Text("Lag by topic", "各主题积压"),
               f"max by (topic) ({of('forewarn_bus_lag_messages')})", "{{topic}}"),
        series(Text("Published", "发布速率"),
               f"sum by (topic) ({rate('forewarn_bus_published_total')})", "{{topic}}"),
        series(Text("Polled", "消费速率"),
               f"sum by (topic) ({rate('forewarn_bus_consumed_total')})", "{{topic}}"),
        series(Text("Not acknowledged yet", "尚未确认"),
               f"sum by (instance) ({of('forewarn_bus_buffered_messages')})", "{{instance}}"),
        series(Text("Bytes held for Kafka", "待发送字节"),
               f"sum by (instance) ({of('forewarn_bus_buffered_bytes')})", "{{instance}}"),
        lines(Text("What went wrong on the bus", "总线异常"), (
            Query(f"sum({rate('forewarn_bus_publish_errors_total')})", Text("refused", "拒收")),
            Query(f"sum({rate('forewarn_bus_gaps_total')})", Text("gaps", "缺口")),
            Query(f"sum({rate('forewarn_bus_resent_total')})", Text("sent again", "重发")),
            Query(f"sum({rate('forewarn_bus_commit_failures_total')})",
                  Text("commits failed", "提交失败")),
        )),
    ),
    Text("Bus", "总线"),
)  # fmt: skip

_DETECT = Section(
    (
        series(Text("Frames", "帧"), f"sum by (topic) ({rate('forewarn_frames_total')})",
               "{{topic}}"),
        lines(Text("Frames that were not as they should be", "异常的帧"), (
            Query(f"sum({rate('forewarn_frames_lost_total')})", Text("lost", "丢失")),
            Query(f"sum({rate('forewarn_frames_late_total')})", Text("late", "迟到")),
            Query(f"sum({rate('forewarn_frames_duplicate_total')})", Text("twice", "重复")),
            Query(f"sum({rate('forewarn_frames_ahead_total')})", Text("ahead", "超前")),
        )),
        series(Text("Delay of a tick", "时刻关闭的延迟"),
               f"max by (instance) ({of('forewarn_tick_delay_seconds')})", "{{instance}}"),
        series(Text("Series known", "已知序列"), f"sum by (instance) ({of('forewarn_series')})",
               "{{instance}}"),
        series(Text("Ready to be judged", "已就绪的序列"),
               f"min by (instance) ({of('forewarn_series_ready_ratio')})", "{{instance}}",
               most=1.0),
        series(Text("Calibration", "校准"),
               f"max by (instance) ({of('forewarn_surprising_ratio')})",
               "{{instance}}", steps=((GOOD, None), (FAIR, 0.02)),
               about=Text("Near 1 % the thresholds fit.", "接近 1% 说明阈值合适。")),
        series(Text("Findings by family", "各检测族的发现"),
               f"sum by (family) ({rate('forewarn_findings_total')})", "{{family}}"),
        series(Text("Samples without a usable value", "无可用值的样本"),
               f"sum by (reason) ({rate('forewarn_samples_failed_total')})", "{{reason}}"),
        lines(Text("Events and ticks", "事件与时刻"), (
            Query(f"sum({rate('forewarn_events_total')})", Text("events", "事件")),
            Query(f"sum({rate('forewarn_ticks_total')})", Text("ticks", "时刻")),
        )),
    ),
    Text("Detect", "检测"),
)  # fmt: skip

_DECIDE = Section(
    (
        series(Text("Messages taken", "接收的消息"),
               f"sum by (topic) ({rate('forewarn_decide_messages_total')})", "{{topic}}"),
        series(Text("Spent of the budget", "预算的使用"),
               f"sum by (outcome) ({grown('forewarn_charges_total')})", "{{outcome}}", "short"),
        series(Text("Incidents opened", "产生的事件"),
               f"sum by (severity) ({grown('forewarn_incidents_total')})", "{{severity}}",
               "short"),
        series(Text("Findings joined", "并入事件的发现"),
               f"sum({rate('forewarn_findings_joined_total')})"),
        series(Text("Waiting to be told", "待投递"),
               f"max by (channel) ({of('forewarn_outbox_pending')})", "{{channel}}"),
        series(Text("Deliveries", "投递"),
               f"sum by (channel, outcome) ({rate('forewarn_deliveries_total')})",
               "{{channel}}: {{outcome}}"),
        series(Text("Given up", "放弃投递"),
               f"sum by (channel) ({rate('forewarn_deliveries_given_up_total')})", "{{channel}}"),
        Panel(kind="heat", title=Text("From change to delivery", "从变化到投递"), width=12,
              unit="s",
              queries=(Query(
                  f"sum by (le) ({rate('forewarn_delivery_latency_seconds_bucket')})",
                  Text("{{le}}"), buckets=True),)),
        series(Text("Dead letters by reason", "死信（按原因）"),
               f"sum by (reason) ({rate('forewarn_dead_letters_total')})", "{{reason}}",
               width=12),
    ),
    Text("Decide and tell", "决策与通知"),
)  # fmt: skip

_AGENTS = Section(
    (
        states(Text("Agents", "采集器"), f"max by (node) ({of('agent_up')})", "{{node}}", UP),
        states(Text("Collectors", "采集项"),
               f"min by (agent) ({of('agent_collector_success')})", "{{agent}}", WORKS,
               about=Text("Failed while it fails on any node.", "任一节点失败即显示失败。")),
        series(Text("Slowest collectors", "最慢的采集项"),
               f"topk(10, max by (agent) ({of('agent_collector_duration_seconds')}))",
               "{{agent}}"),
        series(Text("Failures", "采集失败"),
               f"sum by (agent) ({rate('agent_collector_failures_total')})", "{{agent}}"),
        series(Text("Readings by outcome", "读数结果"),
               f"sum by (outcome) ({rate('forewarn_readings_total')})", "{{outcome}}"),
        series(Text("Processor time of an agent", "采集器处理器占用"),
               f"max by (node) ({rate('agent_cpu_seconds_total')})", "{{node}}"),
        series(Text("Memory of an agent", "采集器内存"),
               f"max by (node) ({of('agent_memory_bytes')})", "{{node}}"),
        lines(Text("Held for the bus", "待发送缓冲"), (
            Query(f"max by (node) ({of('agent_spool_bytes')})", Text("{{node}}")),
        )),
        series(Text("Samples dropped", "丢弃的样本"),
               f"sum by (node) ({rate('agent_samples_dropped_total')})", "{{node}}"),
        series(Text("Streams", "事件来源"), f"min by (stream) ({of('forewarn_stream_up')})",
               "{{stream}}", most=1.0),
        lines(Text("Kernel log lines not taken", "未采用的内核日志"), (
            Query(f"sum by (reason) ({rate('forewarn_kernel_lines_refused_total')})",
                  Text("{{reason}}")),
            Query(f"sum({rate('forewarn_kernel_lines_missed_total')})", Text("missed", "错过")),
        )),
        lines(Text("Lines of training processes", "训练进程上报"), (
            Query(f"sum by (outcome) ({rate('forewarn_reporter_lines_total')})",
                  Text("{{outcome}}")),
            Query(f"sum({rate('forewarn_reporter_dropped_total')})", Text("dropped", "丢弃")),
        )),
    ),
    Text("Agents", "采集器"),
)  # fmt: skip

ITSELF = Dashboard(
    name="itself",
    title=Text("Forewarn · Itself", "Forewarn · 自身状态"),
    about=Text("Does every stage keep up, is everything told, do all collectors read.",
               "各阶段是否跟上、通知是否送达、采集是否正常。"),
    variables=(CLUSTER, NODE),
    sections=(_NOW, _BUS, _DETECT, _DECIDE, _AGENTS),
)  # fmt: skip
