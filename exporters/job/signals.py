"""Fields of a step become signals of the job and of the rank."""

import math
from collections.abc import Iterator

from exporters.collector import Measurement
from exporters.job.lines import Number, Step

# Field of the step -> signal. The leader speaks for the job, every rank for itself.
JOB_FIELDS = {
    "loss": "job_loss",
    "gradient_norm": "job_gradient_norm",
    "step_seconds": "job_step_seconds",
    "tokens": "job_tokens_per_step",
    "communication_seconds": "job_communication_seconds",
    "mfu": "job_mfu_ratio",
    "loss_scale": "job_loss_scale",
    "flops_per_second": "job_flops_per_second",
    "energy_joules": "job_energy_joules_per_step",
}
RANK_FIELDS = {
    "step_seconds": "rank_step_seconds",
    "compute_seconds": "rank_compute_seconds",
    "data_seconds": "rank_data_wait_seconds",
    "communication_seconds": "rank_communication_seconds",
}
RATES = {"tokens": "job_tokens_per_second", "samples": "job_samples_per_second"}


def number(value: Number | None) -> float | None:
    """Return a number as it was meant: JSON has no NaN, so it comes as text."""
    return None if value is None else float(value)


def bad_step(step: Step) -> bool:
    """Say whether loss or gradient norm of the step is NaN or infinite."""
    values = (number(step.loss), number(step.gradient_norm))
    return any(value is not None and not math.isfinite(value) for value in values)


def of_fields(step: Step, fields: dict[str, str], entity: str) -> Iterator[Measurement]:
    """Yield the fields that were reported."""
    for field, signal in fields.items():
        value = number(getattr(step, field))
        if value is not None:
            yield Measurement(signal, entity, value)


def rates(step: Step, entity: str) -> Iterator[Measurement]:
    """Yield what was worked through, over the time of the step."""
    seconds = number(step.step_seconds)
    for field, signal in RATES.items():
        amount = number(getattr(step, field))
        if amount is not None and seconds and seconds > 0:
            yield Measurement(signal, entity, amount / seconds)
