from exporters.gpu.nvml.signals import GPU, SLICE
from exporters.gpu.nvml.unit import SIGNALS
from forewarn.catalogue import CATALOGUE

# Rows of accelerator layers that NVML has no source for (another vendor's, an active test's, or
# an event's).
ELSEWHERE = {
    "gpu_overheat_shutdowns_total", "gpu_ecc_deferred_errors_total", "gpu_voltage_volts",
    "scale_up_congestion_notifications_total", "scale_up_pause_frames_total",
    "gpu_peer_to_peer_bytes_per_second",
    "gpu_thermal_resistance_kelvin_per_watt",  # derived by the detector, of heat and power
}  # fmt: skip


def test_every_row_of_the_catalogue_that_nvml_has_is_read() -> None:
    wanted = {
        s.name
        for s in CATALOGUE.values()
        if s.is_metric and s.entity == "gpu" and s.layer in {"gpu", "scale_up", "pcie"}
    }
    assert wanted - ELSEWHERE == set(SIGNALS)


def test_every_source_is_of_a_metric() -> None:
    assert all(CATALOGUE[signal].is_metric for signal in (*GPU, *SLICE))
