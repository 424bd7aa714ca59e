"""What the detect stage tells about itself on /metrics."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class Telling:
    """The counters and gauges of one engine."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"forewarn_{name}", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"forewarn_{name}", text, labels, registry=registry)

        self.frames = counter("frames", "Frames taken, by topic.", "topic")
        self.node_frames = self.frames.labels("frames")
        self.job_frames = self.frames.labels("jobs")
        self.samples = counter("samples", "Samples that had a value and were scored.")
        self.failed = counter("samples_failed", "Samples without a usable value.", "reason")
        for reason in ("saturated", "failed", "bad_value"):  # a rate sees the first only from 0
            self.failed.labels(reason)
        self.late = counter("frames_late", "Frames of a tick that was closed; still used.")
        self.lost = counter("frames_lost", "Frames missing by sequence number.")
        self.duplicates = counter("frames_duplicate", "Frames and events seen before; ignored.")
        self.ahead = counter("frames_ahead", "Frames over 5 s ahead; taken at append time.")
        self.events = counter("events", "Events taken.")
        self.findings = counter(
            "findings", "Findings opened, by family and movement.", "family", "movement"
        )
        self.ticks = counter("ticks", "Ticks closed.")
        self.open = gauge("findings_open", "Findings that are open now.")
        self.series = gauge("series", "Series known.")
        self.ready = gauge("series_ready_ratio", "Share of scored series past their warm-up.")
        self.tick_delay = gauge(
            "tick_delay_seconds", "Append time at which the last tick closed, after its own time."
        )
        self.lag = gauge("detect_lag_messages", "Messages on the bus that were not polled yet.")
        self.calibration = Gauge(
            "forewarn_surprising_class_ratio",
            "Share of learned samples of a signal with p < 0.01, over two days; near 0.01 it fits.",
            ["signal"],
            registry=registry,
        )
        self.surprising = gauge(
            "surprising_ratio", "Share of learned samples with p < 0.01; it should be near 0.01."
        )
