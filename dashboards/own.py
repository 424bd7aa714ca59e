"""What Forewarn's processes tell of themselves on /metrics, as dashboards may show it."""

import msgspec

from forewarn.language import Text


class OwnMetric(msgspec.Struct, frozen=True):
    """A metric of ours: its unit, and what it is."""

    unit: str
    help: Text


def _own(unit: str, en: str, zh: str) -> OwnMetric:
    return OwnMetric(unit, Text(en, zh))


OWN: dict[str, OwnMetric] = {
    # every process on Kafka
    "forewarn_bus_up": _own("bool", "1 while Kafka answers.", "Kafka 可达时为 1。"),
    "forewarn_kafka_crc32c_native": _own(
        "bool", "0 with the slow crc32c in Python.", "使用慢速的 Python 版 crc32c 时为 0。"
    ),
    "forewarn_bus_published_total": _own(
        "count", "Messages acknowledged by Kafka.", "Kafka 已确认的消息数。"
    ),
    "forewarn_bus_publish_errors_total": _own(
        "count", "Messages refused by Kafka for good: they are lost.",
        "被 Kafka 最终拒收而丢失的消息数。",
    ),
    "forewarn_bus_resent_total": _own(
        "count", "Messages sent again by a new client.", "由新客户端重发的消息数。"
    ),
    "forewarn_bus_buffered_messages": _own(
        "count", "Messages published and not acknowledged yet.", "已发布但尚未确认的消息数。"
    ),
    "forewarn_bus_buffered_bytes": _own(
        "bytes", "Bytes of the buffered messages.", "缓冲消息的字节数。"
    ),
    "forewarn_bus_consumed_total": _own(
        "count", "Messages polled from Kafka.", "从 Kafka 取得的消息数。"
    ),
    "forewarn_bus_lag_messages": _own(
        "count", "Messages of the topic that were not polled yet.", "主题中尚未取走的消息数。"
    ),
    "forewarn_bus_gaps_total": _own(
        "count", "Partitions that no longer held what was to be read next.",
        "下一条待读消息已被删除的分区次数。",
    ),
    "forewarn_bus_commit_failures_total": _own(
        "count", "Commits that failed.", "提交位点失败的次数。"
    ),
    "forewarn_dead_letters_total": _own(
        "count", "Records that could not be used, by reason.", "无法使用的记录数，按原因。"
    ),
    # detect
    "forewarn_detect_lag_messages": _own(
        "count", "Messages that detect has not polled yet.", "检测阶段尚未取走的消息数。"
    ),
    "forewarn_frames_total": _own("count", "Frames taken.", "已接收的帧数。"),
    "forewarn_frames_late_total": _own(
        "count", "Frames of a tick that was closed.", "时刻已关闭后才到的帧数。"
    ),
    "forewarn_frames_lost_total": _own(
        "count", "Frames missing by sequence number.", "按序号判断缺失的帧数。"
    ),
    "forewarn_frames_duplicate_total": _own("count", "Frames seen before.", "重复收到的帧数。"),
    "forewarn_frames_ahead_total": _own(
        "count", "Frames whose clock is over 5 s ahead.", "时钟超前 5 秒以上的帧数。"
    ),
    "forewarn_samples_total": _own(
        "count", "Samples that had a value and were scored.", "有值并已评分的样本数。"
    ),
    "forewarn_samples_failed_total": _own(
        "count", "Samples without a usable value, by reason.", "没有可用值的样本数，按原因。"
    ),
    "forewarn_events_total": _own("count", "Events taken.", "已接收的事件数。"),
    "forewarn_ticks_total": _own("count", "Ticks closed.", "已关闭的时刻数。"),
    "forewarn_tick_delay_seconds": _own(
        "seconds", "How long after its own time the last tick closed.", "最近一个时刻关闭的延迟。"
    ),
    "forewarn_series": _own("count", "Series known.", "已知的时间序列数。"),
    "forewarn_series_ready_ratio": _own(
        "ratio", "Share of scored series past their warm-up.", "已过预热期的序列所占比例。"
    ),
    "forewarn_surprising_ratio": _own(
        "ratio", "Share of learned samples with p < 0.01; it should be near 1 %.",
        "p < 0.01 的样本比例，应接近 1%。",
    ),
    "forewarn_surprising_class_ratio": _own(
        "ratio", "The same by signal, over two days.", "按信号统计的同一比例（两天）。"
    ),
    "forewarn_findings_total": _own("count", "Findings opened.", "已产生的发现数。"),
    "forewarn_findings_open": _own("count", "Findings that are open now.", "当前未关闭的发现数。"),
    # decide
    "forewarn_decide_messages_total": _own(
        "count", "Messages that decide took, by topic.", "决策阶段接收的消息数，按主题。"
    ),
    "forewarn_findings_joined_total": _own(
        "count", "Findings joined to an incident.", "并入事件的发现数。"
    ),
    "forewarn_charges_total": _own(
        "count", "Learned findings that would open an incident, by whether the budget let them.",
        "本可触发事件的学习型发现数，按预算是否放行。",
    ),
    "forewarn_incidents_open": _own(
        "count", "Incidents that are open, by severity.", "未关闭的事件数，按严重程度。"
    ),
    "forewarn_incidents_total": _own(
        "count", "Incidents opened, by severity.", "已产生的事件数，按严重程度。"
    ),
    "forewarn_outbox_pending": _own(
        "count", "Notes that wait to be delivered.", "等待投递的通知数。"
    ),
    "forewarn_deliveries_total": _own(
        "count", "Attempts to tell of an incident, by outcome.", "投递尝试次数，按结果。"
    ),
    "forewarn_delivery_latency_seconds": _own(
        "seconds", "Time from the change of an incident to its delivery.",
        "从事件变化到投递完成的时间。",
    ),
    "forewarn_deliveries_given_up_total": _own(
        "count", "Notes that will never be delivered.", "最终放弃投递的通知数。"
    ),
    # agent
    "forewarn_readings_total": _own("count", "Readings by outcome.", "读数次数，按结果。"),
    "forewarn_stream_up": _own(
        "bool", "1 while a source of events is served.", "事件来源可读时为 1。"
    ),
    "forewarn_kernel_lines_refused_total": _own(
        "count", "Kernel log lines not taken, by reason.", "未采用的内核日志行数，按原因。"
    ),
    "forewarn_kernel_lines_missed_total": _own(
        "count", "Kernel log lines overwritten before they were read.",
        "读取前已被覆盖的内核日志行数。",
    ),
    "forewarn_reporter_lines_total": _own(
        "count", "Lines of training processes, by outcome.", "训练进程上报的行数，按结果。"
    ),
    "forewarn_reporter_dropped_total": _own(
        "count", "Lines that training processes dropped.", "训练进程丢弃的行数。"
    ),
}  # fmt: skip
