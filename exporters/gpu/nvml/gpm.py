"""GPM, the activity counters of Hopper and later: two samples, and the metrics between them."""

from collections.abc import Callable
from typing import Any

from exporters.gpu.nvml.api import FAILED, NOT_YET, UNSUPPORTED, Answer, Device, LackingError

METRICS = (1, 2, 3, 5, 10, 20, 21, 60, 61)


class Pair:
    """Two samples of one device, of which the older is overwritten at each reading.

    `get` fills a sample: `nvmlGpmSampleGet` of a GPU, `nvmlGpmMigSampleGet` of a MIG slice.
    """

    def __init__(self, device: Device, get: Callable[[Any], object]) -> None:
        self._device, self._get = device, get
        self._samples: list[Any] = []  # older, newer
        self._filled = 0
        self._metrics: Any = None

    def read(self) -> dict[int, Answer]:
        """Take a sample; return the metrics since the last one. Raises NvmlError."""
        if self._metrics is None:
            self._begin()
        self._get(self._samples[0])
        self._samples.reverse()
        self._filled += 1
        if self._filled < 2:
            return dict.fromkeys(METRICS, NOT_YET)
        return self._compare()

    def _begin(self) -> None:
        nvml = self._device.nvml
        if not self._device.ask("nvmlGpmQueryDeviceSupport").isSupportedDevice:
            raise LackingError("the device has no GPM")
        self._samples = [nvml.ask("nvmlGpmSampleAlloc") for _ in range(2)]
        metrics = nvml.make("c_nvmlGpmMetricsGet_t")
        metrics.version, metrics.numMetrics = 1, len(METRICS)
        for at, metric in enumerate(METRICS):
            metrics.metrics[at].metricId = metric
        self._metrics = metrics

    def _compare(self) -> dict[int, Answer]:
        self._metrics.sample1, self._metrics.sample2 = self._samples
        self._device.nvml.ask("nvmlGpmMetricsGet", self._metrics)
        rows = (self._metrics.metrics[at] for at in range(len(METRICS)))
        return {row.metricId: _answer(row) for row in rows}


def _answer(row: Any) -> Answer:
    if row.nvmlReturn == 0:
        return Answer(float(row.value))
    return UNSUPPORTED if row.nvmlReturn in {2, 3} else FAILED
