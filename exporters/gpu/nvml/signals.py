"""The table: which signal comes from where in NVML, in order of preference; periods and units are
the catalogue's, factors bring NVML's units to it.

Functions and fields: nvml.h of driver 580 and its comments. Where a source is lacking (older or
newer device, older driver) the next is taken; where all are, the signal is unsupported.
"""

import operator

from exporters.gpu.nvml.fields import ALL_LINKS, Field
from exporters.gpu.nvml.sources import Call, FieldValue, Gpm, Of, Rate, Source, total

MILLI, NANO, KIBI, MEBI, MEGA, PERCENT = 1e-3, 1e-9, 1024.0, 1048576.0, 1e6, 0.01
CORRECTED, UNCORRECTED, VOLATILE, LIFETIME, DRAM, SRAM = 0, 1, 0, 1, 2, 7
_MEMORY_2 = 0x0200_0028  # version of nvmlMemory_v2_t


def _memory(part: str) -> tuple[Call, ...]:
    return (
        Call("nvmlDeviceGetMemoryInfo", (_MEMORY_2,), part),
        Call("nvmlDeviceGetMemoryInfo", (), part),
    )


def _memory_ratio() -> tuple[Of, ...]:
    both = zip(_memory("used"), _memory("total"), strict=True)
    return tuple(Of(operator.truediv, pair) for pair in both)


def _ecc(kind: int, life: int, place: int) -> Call:
    return Call("nvmlDeviceGetMemoryErrorCounter", (kind, life, place))


def _sram(*parts: str) -> Of:
    calls = tuple(Call("nvmlDeviceGetSramEccErrorStatus", (), part) for part in parts)
    return Of(lambda *counts: sum(counts), calls)


def _utilization(part: str) -> tuple[Call, ...]:
    return (Call("nvmlDeviceGetUtilizationRates", (), part, PERCENT),)


def _healthy(action: float) -> float:
    return float(action == 0)


TEMPERATURE = Call("nvmlDeviceGetTemperature", (0,))
SLOWDOWN = Call("nvmlDeviceGetTemperatureThreshold", (1,))
MARGIN = Call("nvmlDeviceGetMarginTemperature")
MEMORY: dict[str, tuple[Source, ...]] = {
    "gpu_memory_used_bytes": _memory("used"),
    "gpu_memory_total_bytes": _memory("total"),
    "gpu_memory_free_bytes": _memory("free"),
}
ACTIVITY: dict[str, tuple[Source, ...]] = {
    "gpu_core_active_ratio": (Gpm(2),),
    "gpu_core_occupancy_ratio": (Gpm(3),),
    "gpu_tensor_active_ratio": (Gpm(5),),
    "gpu_memory_bandwidth_active_ratio": (Gpm(10),),
}
GPU: dict[str, tuple[Source, ...]] = {
    "gpu_utilization_ratio": _utilization("gpu"),
    "gpu_memory_controller_busy_ratio": _utilization("memory"),
    **ACTIVITY,
    **MEMORY,
    "gpu_memory_used_ratio": _memory_ratio(),
    "gpu_memory_reserved_bytes": _memory("reserved")[:1],
    "gpu_temperature_celsius": (Call("nvmlDeviceGetTemperatureV", (0,)), TEMPERATURE),
    # Newer devices tell a margin instead of thresholds; the slowdown offset is relative to it.
    "gpu_temperature_limit_celsius": (
        SLOWDOWN,
        Of(
            lambda now, margin, offset: now + margin - offset,
            (TEMPERATURE, MARGIN, FieldValue(Field.TEMPERATURE_SLOWDOWN_TLIMIT)),
        ),
    ),
    "gpu_temperature_margin_celsius": (MARGIN, Of(operator.sub, (SLOWDOWN, TEMPERATURE))),
    "gpu_memory_temperature_celsius": (FieldValue(Field.MEMORY_TEMP),),
    "gpu_power_watts": (
        FieldValue(Field.POWER_AVERAGE, MILLI),
        Call("nvmlDeviceGetPowerUsage", factor=MILLI),
    ),
    "gpu_power_limit_watts": (
        Call("nvmlDeviceGetEnforcedPowerLimit", factor=MILLI),
        FieldValue(Field.POWER_CURRENT_LIMIT, MILLI),
    ),
    "gpu_power_limit_default_watts": (
        FieldValue(Field.POWER_DEFAULT_LIMIT, MILLI),
        Call("nvmlDeviceGetPowerManagementDefaultLimit", factor=MILLI),
    ),
    "gpu_energy_joules_total": (
        FieldValue(Field.TOTAL_ENERGY_CONSUMPTION, MILLI),
        Call("nvmlDeviceGetTotalEnergyConsumption", factor=MILLI),
    ),
    "gpu_core_clock_hertz": (Call("nvmlDeviceGetClockInfo", (1,), factor=MEGA),),
    "gpu_memory_clock_hertz": (Call("nvmlDeviceGetClockInfo", (2,), factor=MEGA),),
    "gpu_clock_event_reasons": (
        Call("nvmlDeviceGetCurrentClocksEventReasons"),
        Call("nvmlDeviceGetCurrentClocksThrottleReasons"),
    ),
    "gpu_throttle_power_seconds_total": (FieldValue(Field.PERF_POLICY_POWER, NANO),),
    "gpu_throttle_thermal_seconds_total": (
        FieldValue(Field.PERF_POLICY_THERMAL, NANO),
        total(
            Field.CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
            Field.CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
            factor=NANO,
        ),
    ),
    "gpu_throttle_power_brake_seconds_total": (
        FieldValue(Field.CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, NANO),
    ),
    "gpu_ecc_corrected_errors_total": (FieldValue(Field.ECC_SBE_VOL_TOTAL),),
    "gpu_ecc_uncorrected_errors_total": (FieldValue(Field.ECC_DBE_VOL_TOTAL),),
    "gpu_ecc_corrected_lifetime_errors_total": (FieldValue(Field.ECC_SBE_AGG_TOTAL),),
    "gpu_ecc_uncorrected_lifetime_errors_total": (FieldValue(Field.ECC_DBE_AGG_TOTAL),),
    "gpu_ecc_dram_corrected_errors_total": (
        FieldValue(Field.ECC_SBE_VOL_DEV),
        _ecc(CORRECTED, VOLATILE, DRAM),
    ),
    "gpu_ecc_dram_uncorrected_errors_total": (
        FieldValue(Field.ECC_DBE_VOL_DEV),
        _ecc(UNCORRECTED, VOLATILE, DRAM),
    ),
    "gpu_ecc_sram_corrected_errors_total": (
        _sram("volatileCor"),
        _ecc(CORRECTED, VOLATILE, SRAM),
        total(
            Field.ECC_SBE_VOL_L1, Field.ECC_SBE_VOL_L2, Field.ECC_SBE_VOL_REG,
            Field.ECC_SBE_VOL_TEX,
        ),
    ),
    "gpu_ecc_sram_uncorrected_errors_total": (
        _sram("volatileUncParity", "volatileUncSecDed"),
        _ecc(UNCORRECTED, VOLATILE, SRAM),
        total(
            Field.ECC_DBE_VOL_L1, Field.ECC_DBE_VOL_L2, Field.ECC_DBE_VOL_REG,
            Field.ECC_DBE_VOL_TEX, Field.ECC_DBE_VOL_CBU,
        ),
    ),
    "gpu_ecc_sram_uncorrected_lifetime_errors_total": (
        _sram("aggregateUncParity", "aggregateUncSecDed"),
        _ecc(UNCORRECTED, LIFETIME, SRAM),
        total(
            Field.ECC_DBE_AGG_L1, Field.ECC_DBE_AGG_L2, Field.ECC_DBE_AGG_REG,
            Field.ECC_DBE_AGG_TEX, Field.ECC_DBE_AGG_CBU,
        ),
    ),
    "gpu_ecc_sram_threshold_exceeded": (_sram("bThresholdExceeded"),),
    "gpu_ecc_enabled": (
        FieldValue(Field.ECC_CURRENT),
        Call("nvmlDeviceGetEccMode", (), 0),
    ),
    "gpu_retired_pages_corrected_total": (FieldValue(Field.RETIRED_SBE),),
    "gpu_retired_pages_uncorrected_total": (FieldValue(Field.RETIRED_DBE),),
    "gpu_page_retirement_pending": (FieldValue(Field.RETIRED_PENDING),),
    "gpu_row_remap_corrected_rows_total": (
        FieldValue(Field.REMAPPED_COR),
        Call("nvmlDeviceGetRemappedRows", (), 0),
    ),
    "gpu_row_remap_uncorrected_rows_total": (
        FieldValue(Field.REMAPPED_UNC),
        Call("nvmlDeviceGetRemappedRows", (), 1),
    ),
    "gpu_row_remap_pending": (
        FieldValue(Field.REMAPPED_PENDING),
        Call("nvmlDeviceGetRemappedRows", (), 2),
    ),
    "gpu_row_remap_failed": (
        FieldValue(Field.REMAPPED_FAILURE),
        Call("nvmlDeviceGetRemappedRows", (), 3),
    ),
    "gpu_row_remap_banks_low_spares": (Call("nvmlDeviceGetRowRemapperHistogram", (), "low"),),
    "gpu_row_remap_banks_without_spares": (Call("nvmlDeviceGetRowRemapperHistogram", (), "none"),),
    "gpu_health_status": (Of(_healthy, (FieldValue(Field.GET_GPU_RECOVERY_ACTION),)),),
    "gpu_pcie_replays_total": (
        FieldValue(Field.PCIE_REPLAY_COUNTER),
        Call("nvmlDeviceGetPcieReplayCounter"),
    ),
    "gpu_pcie_corrected_errors_total": (FieldValue(Field.PCIE_COUNT_CORRECTABLE_ERRORS),),
    "gpu_pcie_nonfatal_errors_total": (FieldValue(Field.PCIE_COUNT_NON_FATAL_ERROR),),
    "gpu_pcie_fatal_errors_total": (FieldValue(Field.PCIE_COUNT_FATAL_ERROR),),
    # The function measures for 20 ms while it blocks: the last resort.
    "gpu_pcie_tx_bytes_per_second": (
        Gpm(20, MEBI),
        Rate(FieldValue(Field.PCIE_COUNT_TX_BYTES)),
        Call("nvmlDeviceGetPcieThroughput", (0,), factor=1e3),
    ),
    "gpu_pcie_rx_bytes_per_second": (
        Gpm(21, MEBI),
        Rate(FieldValue(Field.PCIE_COUNT_RX_BYTES)),
        Call("nvmlDeviceGetPcieThroughput", (1,), factor=1e3),
    ),
    "gpu_pcie_link_generation": (Call("nvmlDeviceGetCurrPcieLinkGeneration"),),
    "gpu_pcie_link_generation_max": (Call("nvmlDeviceGetMaxPcieLinkGeneration"),),
    "gpu_pcie_link_width": (Call("nvmlDeviceGetCurrPcieLinkWidth"),),
    "gpu_pcie_link_width_max": (Call("nvmlDeviceGetMaxPcieLinkWidth"),),
    "scale_up_tx_bytes_per_second": (
        Gpm(61, MEBI),
        Rate(FieldValue(Field.NVLINK_THROUGHPUT_DATA_TX, KIBI, ALL_LINKS)),
    ),
    "scale_up_rx_bytes_per_second": (
        Gpm(60, MEBI),
        Rate(FieldValue(Field.NVLINK_THROUGHPUT_DATA_RX, KIBI, ALL_LINKS)),
    ),
    "scale_up_fabric_state": (Call("nvmlDeviceGetGpuFabricInfoV", (), "state"),),
}  # fmt: skip
# What a MIG slice gives, at `.../mig/<gpu instance>`.
SLICE: dict[str, tuple[Source, ...]] = {
    **MEMORY,
    **ACTIVITY,
    "gpu_slice_memory_used_ratio": _memory_ratio(),
    "gpu_slice_utilization_ratio": (Gpm(1),),
}
