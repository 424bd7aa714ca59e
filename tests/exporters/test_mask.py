import pytest

from exporters.mask import mask, shorten


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("mount nfs://bob:pw@10.0.0.1/x", "mount nfs://***@10.0.0.1/x"),
        ("GET https://user@host/?api_key=abc123&x=1", "GET https://***@host/?api_key=***&x=1"),
        ("token=eyJhb.xyz next", "token=*** next"),
        ('HF_TOKEN: "hf_abc def", done', "HF_TOKEN: ***, done"),
        ("password = hunter2; key=a,b", "password = ***; key=***,b"),
        ("AWS_SECRET=x/y+z==", "AWS_SECRET=***"),
        ("monkey business, no keys here", "monkey business, no keys here"),
        ("I/O error, dev vda, sector 2048", "I/O error, dev vda, sector 2048"),
        ("http://host/a@b", "http://host/a@b"),
    ],
)
def test_secrets_are_masked_and_the_rest_stays(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_a_text_is_cut_between_characters() -> None:
    assert shorten("温" * 1000, 2048) == "温" * 682
    assert shorten("short") == "short"
