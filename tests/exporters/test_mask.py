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
        ('{"api_key": "abc", "n": 1}', '{"api_key": ***, "n": 1}'),
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


@pytest.mark.parametrize("text", ["x" * 200_000, "key " * 50_000, "a://" * 50_000, "key=" * 50_000])
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    # Quadratic reading of this much would run into the suite's time limit.
    assert len(mask(text)) <= len(text)
