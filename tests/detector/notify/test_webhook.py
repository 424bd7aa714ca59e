import logging
import socket
import ssl
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest

from detector.notify.outbox import Note, Row
from detector.notify.posting import classify, retry_after
from detector.notify.webhook import WebhookChannel
from forewarn.config import Secret, Webhook
from tests.detector.receiver import receiving

NOW = 1_764_500_000 * 10**9
ROW = Row(1, Note("ops", "I", "I:1:1", "open", b'{"a":1}', NOW), 0, NOW)
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


def clock() -> int:
    return NOW


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, "ok"), (204, "ok"), (301, "permanent"), (307, "permanent"), (400, "permanent"),
        (401, "permanent"), (404, "permanent"), (408, "retry"), (410, "gone"), (413, "permanent"),
        (425, "retry"), (429, "retry"), (500, "retry"), (503, "retry"), (599, "retry"),
    ],
)  # fmt: skip
def test_status_is_classified(status: int, outcome: str) -> None:
    assert classify(status, httpx.Headers(), NOW).outcome == outcome


@pytest.mark.parametrize(
    ("value", "seconds"), [("120", 120.0), ("0", 0.0), ("soon", None), ("-5", None), (None, None)]
)
def test_retry_after_in_seconds_is_read(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(("ahead", "seconds"), [(90, 90.0), (-90, 0.0)])
def test_retry_after_as_a_date_is_read(ahead: int, seconds: float) -> None:
    moment = datetime.fromtimestamp(NOW / 1e9, tz=UTC) + timedelta(seconds=ahead)
    assert retry_after(format_datetime(moment, usegmt=True), NOW) == seconds


def test_redirect_is_not_followed() -> None:
    with receiving() as other, receiving() as receiver:
        receiver.answers = [(307, {"location": other.url})]
        channel = WebhookChannel(Webhook(name="ops", url=receiver.url), clock)
        assert channel.send(ROW).outcome == "permanent"
        channel.close()
    assert other.received == []


def test_secret_and_url_are_in_no_log_and_no_result(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="httpx")
    monkeypatch.setenv("HOOK", SECRET)
    with receiving() as receiver:
        hook = Webhook(name="ops", url=receiver.url, secret=Secret(env="HOOK"))
        channel = WebhookChannel(hook, clock)
        results = [channel.send(ROW)]
        receiver.answers = [(500, {})]
        results.append(channel.send(ROW))
        channel.close()
    gone = WebhookChannel(hook, clock)
    results.append(gone.send(ROW))
    gone.close()
    told = caplog.text + "".join(own.detail for own in results)
    assert [own.outcome for own in results] == ["ok", "retry", "retry"]
    assert "hush" not in told  # the token of the receiver's URL
    assert SECRET not in told
    assert SECRET.removeprefix("whsec_") not in told


def test_link_local_name_is_not_connected_to() -> None:
    hook = Webhook(name="ops", url="http://metadata.example/latest")
    channel = WebhookChannel(hook, clock, resolver=lambda host, port: ["169.254.169.254"])
    result = channel.send(ROW)
    channel.close()
    assert (result.outcome, "link-local" in result.detail) == ("retry", True)


def test_address_that_was_checked_is_the_one_connected_to() -> None:
    """A name that resolves to something else the second time (rebinding) gains nothing."""
    with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example")
        asked = []

        def resolver(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"]

        channel = WebhookChannel(Webhook(name="ops", url=url), clock, resolver)
        assert channel.send(ROW).outcome == "ok"
        channel.close()
    assert asked == ["hooks.example"]
    assert receiver.received[0].headers["host"].startswith("hooks.example:")


def test_next_address_is_tried_when_one_cannot_be_reached() -> None:
    with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example")
        hook = Webhook(name="ops", url=url)
        channel = WebhookChannel(hook, clock, lambda host, port: ["127.0.0.2", "127.0.0.1"])
        assert channel.send(ROW).outcome == "ok"
        channel.close()


def test_unresolvable_name_is_retried() -> None:
    channel = WebhookChannel(Webhook(name="ops", url="http://nowhere.invalid/"), clock)
    assert channel.send(ROW).outcome == "retry"
    channel.close()


def test_silent_receiver_is_given_up_on_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        channel = WebhookChannel(Webhook(name="ops", url=url, timeout_seconds=0.2), clock)
        result = channel.send(ROW)
        channel.close()
    assert (result.outcome, result.detail) == ("retry", "no answer: ReadTimeout")


class _Ok(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of hooks.example that nobody but the test trusts."""
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", str(path), "-out", str(path.with_suffix(".crt")), "-days", "2",
         "-subj", "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.mark.parametrize(
    ("host", "trusted", "outcome"),
    [
        ("hooks.example", True, "ok"),
        ("other.example", True, "retry"),
        ("hooks.example", False, "retry"),
    ],
)
def test_certificate_is_checked_against_the_name(
    certificate: Path, host: str, trusted: bool, outcome: str
) -> None:
    server = HTTPServer(("127.0.0.1", 0), _Ok)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    hook = Webhook(name="ops", url=f"https://{host}:{server.server_address[1]}/x")
    verify = ssl.create_default_context(cafile=certificate) if trusted else None
    channel = WebhookChannel(hook, clock, lambda name, port: ["127.0.0.1"], verify)
    try:
        assert channel.send(ROW).outcome == outcome
    finally:
        channel.close()
        server.shutdown()
        thread.join()
        server.server_close()
