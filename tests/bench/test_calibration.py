"""The simulated A100 is as warm and draws as much as those of AcmeTrace."""

import pytest

from bench import calibration

TOLERANCE = {"core, celsius": (6.0, 0.0), "memory, celsius": (8.0, 0.0),
             "GPU, watts": (20.0, 0.12), "server, watts": (150.0, 0.20)}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, float, list[float], float]]:
    return calibration.compare(calibration.scenario(nodes=48, seconds=2400))


@pytest.mark.parametrize("what", TOLERANCE)
def test_percentiles_lie_beside_the_measured_ones(
    what: str, rows: list[tuple[str, float, list[float], float]]
) -> None:
    absolute, relative = TOLERANCE[what]
    for name, percent, told, made in rows:
        if name == what and percent != 75:  # the knee between held and training GPUs is steep
            near = [abs(made - real) <= absolute + relative * real for real in told]
            assert any(near), (name, percent, told, made)
