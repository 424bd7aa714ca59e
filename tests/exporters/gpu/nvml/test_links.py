import pytest

from exporters.gpu.nvml import links
from exporters.gpu.nvml.links import bit_error_ratio


@pytest.mark.parametrize(
    ("encoded", "ratio"), [(0x10F, 1e-15), (0x30C, 3e-12), (0, 0.0), (0xFFF, 15e-255)]
)
def test_a_bit_error_ratio_is_mantissa_and_exponent(encoded: int, ratio: float) -> None:
    assert bit_error_ratio(encoded) == pytest.approx(ratio)


def test_a_link_beyond_the_old_twelve_has_no_field_of_its_own() -> None:
    crc = links.LINK["scale_up_crc_errors_total"][0]
    assert len(crc(11)) == 3
    assert len(crc(12)) == 2
