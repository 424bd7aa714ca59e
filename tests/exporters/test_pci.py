import pytest

from exporters.pci import slot


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0000:1a:00", "0000:1a:00.0"),
        ("00000000:1A:00.0", "0000:1a:00.0"),
        ("0018:01:00", "0018:01:00.0"),
        ("1a:00.1", "0000:1a:00.1"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("gpu7", "gpu7"),
    ],
)
def test_addresses_get_one_spelling(text: str, address: str) -> None:
    assert slot(text) == address
