"""Signs a webhook after Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

from forewarn.errors import ConfigError

PREFIX = "whsec_"
# Standard Webhooks, "Signature scheme": a key has 24 to 64 bytes.
KEY_BYTES = range(24, 65)


def keys(secret: str, where: str) -> tuple[bytes, ...]:
    """Read the keys of `whsec_...` secrets divided by white space; several sign side by side.

    Raises:
        ConfigError: naming `where`, never the secret.

    """
    return tuple(_key(own, where) for own in secret.split())


def _key(secret: str, where: str) -> bytes:
    problem = f"{where}: a secret is {PREFIX} and 24 to 64 bytes in base64"
    if not secret.startswith(PREFIX):
        raise ConfigError(problem)
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ConfigError(problem) from None  # the cause would show a part of the secret
    if len(key) not in KEY_BYTES:
        raise ConfigError(problem)
    return key


def sign(keys: Iterable[bytes], message_id: str, timestamp_seconds: int, body: bytes) -> str:
    """Return the header `webhook-signature`: one `v1,<base64>` a key (several while rotating)."""
    signed = f"{message_id}.{timestamp_seconds}.".encode() + body
    digests = (hmac.digest(key, signed, hashlib.sha256) for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
