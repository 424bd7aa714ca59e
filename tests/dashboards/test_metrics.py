"""Selectors, rates and units of the metrics that dashboards name."""

import pytest

from dashboards import metrics


def test_selector_follows_the_entity_of_the_signal() -> None:
    assert metrics.of("gpu_power_watts") == ('gpu_power_watts{cluster=~"$cluster", node=~"$node"}')
    assert metrics.of("job_loss", 'rank="0"') == (
        'job_loss{cluster=~"$cluster", job=~"$job", rank="0"}'
    )
    assert metrics.of("storage_errors_total") == 'storage_errors_total{cluster=~"$cluster"}'
    assert metrics.of("forewarn_bus_up") == 'forewarn_bus_up{cluster=~"$cluster"}'


@pytest.mark.parametrize("name", ["gpu_powr_watts", "up", "forewarn_nothing"])
def test_unknown_metric_is_refused(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        metrics.of(name)


def test_parts_of_a_histogram_are_the_histogram() -> None:
    found = metrics.metric("forewarn_delivery_latency_seconds_bucket")
    assert found.unit == "seconds"
    assert found.help == metrics.metric("forewarn_delivery_latency_seconds").help


@pytest.mark.parametrize(
    ("expr", "unit"),
    [
        (metrics.of("gpu_temperature_celsius"), "celsius"),
        (f"avg({metrics.of('gpu_utilization_ratio')})", "percentunit"),
        (f"sum by (node) ({metrics.rate('nic_tx_bytes_total')})", "Bps"),
        (metrics.rate("gpu_energy_joules_total"), "watt"),
        (metrics.rate("node_pressure_io_seconds_total"), "percentunit"),
        (metrics.grown("gpu_ecc_uncorrected_errors_total"), "short"),
    ],
)
def test_unit_is_that_of_the_level_or_of_the_rate(expr: str, unit: str) -> None:
    assert metrics.unit(expr) == unit


def test_names_of_an_expression_are_its_metrics_in_order() -> None:
    slowest = f"max by (job) ({metrics.of('rank_compute_seconds')})"
    expr = f"{slowest} / on (job) group_left {metrics.of('job_loss')}"
    assert metrics.named(expr) == ("rank_compute_seconds", "job_loss")
