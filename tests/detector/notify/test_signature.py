import datetime as dt

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook

from detector.notify.signature import keys, sign
from forewarn.errors import ConfigError

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
OTHER = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
BODY = b'{"type":"incident.opened","data":{"id":"inc_1"}}'


def test_known_vector_is_signed_as_published() -> None:
    signed = sign(keys(SECRET, "x"), "msg_1", 1_700_000_000, BODY)
    assert signed == "v1,x3EtH1+cN8Dk8A4LIaMyO1BoTQGAfRO5/0k0bYUrpIg="


@pytest.mark.parametrize("receiver", [SECRET, OTHER])
def test_independent_receiver_accepts_either_key_while_rotating(receiver: str) -> None:
    now = int(dt.datetime.now(tz=dt.UTC).timestamp())
    signature = sign(keys(f"{SECRET}\n{OTHER}", "x"), "msg_2", now, BODY)
    headers = {
        "webhook-id": "msg_2", "webhook-timestamp": str(now), "webhook-signature": signature,
    }  # fmt: skip
    assert StandardWebhook(receiver).verify(BODY, headers)["type"] == "incident.opened"


@pytest.mark.parametrize(
    "secret", ["hush-hush", "whsec_", "whsec_hush", "whsec_!!!!", "whsec_aHVzaA=="]
)
def test_unusable_secret_is_refused_without_showing_it(secret: str) -> None:
    with pytest.raises(ConfigError, match="webhook ops: secret") as caught:
        keys(secret, "webhook ops: secret")
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_secret_is_no_key() -> None:
    assert keys("", "x") == ()
