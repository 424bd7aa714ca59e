"""A real HTTP receiver on loopback for tests of webhooks."""

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec


class Received(msgspec.Struct, frozen=True):
    """One request as it came, and when."""

    headers: dict[str, str]
    body: bytes
    answered: int
    at_unix_nano: int = 0
    path: str = ""


class Receiver:
    """Keeps what it is sent; `answers` are used one a request, the last one for ever."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str]]] = [(204, {})]
        self.received: list[Received] = []
        self.arrived = threading.Condition()
        self.url = ""

    def accepted(self) -> list[Received]:
        """Return what was answered with 2xx."""
        return [own for own in self.received if 200 <= own.answered < 300]

    def wait_for(self, count: int, seconds: float = 20.0) -> list[Received]:
        """Wait until `count` requests were accepted."""
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.accepted()) >= count, seconds)
            return self.accepted()

    def take(
        self, headers: dict[str, str], body: bytes, path: str = ""
    ) -> tuple[int, dict[str, str]]:
        """Keep one request; return the answer."""
        with self.arrived:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            self.received.append(Received(headers, body, answer[0], time.time_ns(), path))
            self.arrived.notify_all()
            return answer


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver while the context lasts."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra = receiver.take(headers, body, self.path)
            self.send_response(status)
            for name, value in {"content-length": "0", **extra}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook?token=hush"
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
