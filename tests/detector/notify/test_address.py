import pytest

from detector.notify.address import AddressError, allowed, check_url
from forewarn.errors import ConfigError


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hush@host/x", "https://hush@host/x", "ftp://host/hush", "host/hush",
        "https:///hush", "http://host:99999/hush", "http://[hush", "",
    ],
)  # fmt: skip
def test_unusable_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError, match="webhook ops: url") as caught:
        check_url(url, "ops")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/x", "https://hooks.example/T1?token=2"])
def test_plain_url_is_taken(url: str) -> None:
    check_url(url, "ops")


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "224.0.0.1",
        "ff02::1",
    ],
)
def test_link_local_address_is_refused(address: str) -> None:
    with pytest.raises(AddressError, match="link-local"):
        allowed([address])


def test_name_that_mixes_public_and_link_local_is_refused() -> None:
    with pytest.raises(AddressError):
        allowed(["203.0.113.9", "169.254.169.254"])


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "::1", "fd00::1"])
def test_private_address_is_taken(address: str) -> None:
    assert allowed([address]) == [address]
