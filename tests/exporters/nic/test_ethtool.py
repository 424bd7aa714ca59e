"""The ioctl on this machine's own kernel; where an interface has no such driver it says so."""

import errno
import os
from pathlib import Path

import pytest

from exporters.nic.ethtool import Ethtool, _speeds


def virtual() -> list[str]:
    folder = Path("/sys/class/net")
    return sorted(path.name for path in folder.iterdir() if path.name != "lo")


def test_loopback_has_no_statistics() -> None:
    with pytest.raises(OSError, match="not supported") as caught:
        Ethtool().statistics("lo")
    assert caught.value.errno == errno.EOPNOTSUPP


def test_an_interface_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match=os.strerror(errno.ENODEV)):
        Ethtool().statistics("nosuch0")


def test_statistics_of_a_real_driver_have_names_and_numbers() -> None:
    own, found = Ethtool(), None
    for name in virtual():
        try:
            found = own.statistics(name)
        except OSError as error:
            assert error.errno == errno.EOPNOTSUPP  # noqa: PT017 - other drivers are tried
            continue
        break
    if found is None:
        pytest.skip("no interface of this machine has driver statistics")
    assert all(name.isprintable() and name for name in found.names.all)
    assert len(found.values) == len(found.names.all)
    again = own.statistics(name)
    assert again.names is found.names  # the names are asked for once
    assert all(now >= then for now, then in zip(again.values, found.values, strict=True))


def test_link_modes_become_speeds() -> None:
    # 25000baseCR (31), 100000baseCR4 (38), 200000baseKR4 (62), Autoneg (6), FEC_RS (50)
    assert _speeds([1 << 31 | 1 << 6, 1 << 6 | 1 << 18 | 1 << 30]) == [25_000, 100_000, 200_000]
    assert _speeds([0, 0, 1 << 5]) == [400_000]
    assert _speeds([1 << 6]) == []
