import pytest

from exporters.gpu.nvml.slices import NONE, entity

GPU = "node/n7/gpu/0000:1a:00.0"


@pytest.mark.parametrize(
    ("instance", "compute", "wanted"),
    [
        (NONE, NONE, GPU),
        (3, 0, f"{GPU}/mig/3"),
        (3, NONE, f"{GPU}/mig/3"),
        (3, 2, f"{GPU}/mig/3.2"),
    ],
)
def test_a_slice_is_named_by_its_instances(instance: int, compute: int, wanted: str) -> None:
    assert entity(GPU, instance, compute) == wanted
