"""Where a webhook may go: the operator's URL, private addresses too, but nothing link-local.

Link-local addresses (169.254.0.0/16, fe80::/10) hold the metadata services of clouds, which hand
out credentials; the check is made on the resolved address, and that very address is connected to.
"""

import ipaddress
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from forewarn.errors import ConfigError, ForewarnError

SCHEMES = frozenset({"http", "https"})
Resolver = Callable[[str, int], list[str]]


class AddressError(ForewarnError):
    """A host has no address that may be told."""


class RefusedError(AddressError):
    """An address is one that is never told."""


def check_url(url: str, name: str) -> None:
    """Refuse a URL that is none, or that carries a user or password.

    Raises:
        ConfigError: naming the webhook, never the URL (its path or query may be a token).

    """
    where = f"webhook {name}: url"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ConfigError(f"{where}: is no URL") from None
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ConfigError(f"{where}: expected http://host or https://host")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"{where}: holds a user or password: use the receiver's token or a secret"
        )


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the system's order. Raises AddressError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise AddressError(f"host cannot be resolved: {error.strerror}") from error
    return list(dict.fromkeys(str(own[4][0]) for own in found))


def reached(url: str, resolver: Resolver = resolve) -> list[str]:
    """Return the addresses that a checked URL leads to. Raises AddressError."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return allowed(resolver(parts.hostname or "", port))


def allowed(addresses: list[str]) -> list[str]:
    """Return the addresses that may be told.

    Raises:
        RefusedError: if any is link-local or multicast: a name that mixes them is not trusted.

    """
    for address in addresses:
        ip = ipaddress.ip_address(address.partition("%")[0])
        plain = (ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else ip
        if plain.is_link_local or plain.is_multicast:
            raise RefusedError("host resolves to a link-local or multicast address: refused")
    return addresses
