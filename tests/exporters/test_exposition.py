import os
import shutil
import subprocess
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from exporters.collector import Host, Measurement, failed
from exporters.exposition import Latest, Server
from exporters.registry import build
from forewarn.catalogue import CATALOGUE
from forewarn.errors import ConfigError
from tests.exporters.fakes import Everything, Line

A, B = "node/n7/disk/a", "node/n7/disk/b"
SIGNAL = "disk_io_seconds_total"


def page(own: Latest) -> str:
    registry = CollectorRegistry()
    registry.register(own)
    return generate_latest(registry).decode()


def test_a_page_names_signal_help_type_and_labels() -> None:
    own = Latest()
    own.update("drives", [Measurement(SIGNAL, A, 1.5), Measurement("node_up", "node/n7", 1.0)])
    assert page(own).splitlines() == [
        f"# HELP disk_io_seconds_total {CATALOGUE[SIGNAL].help.en}",
        "# TYPE disk_io_seconds_total counter",
        'disk_io_seconds_total{disk="a",node="n7"} 1.5',
        "# HELP node_up 1 while the node answers on the management network.",
        "# TYPE node_up gauge",
        'node_up{node="n7"} 1.0',
    ]


def test_a_series_that_failed_or_is_gone_is_not_shown() -> None:
    own = Latest()
    own.update("drives", [Measurement(SIGNAL, A, 1.0), Measurement(SIGNAL, B, 2.0)])
    own.update("drives", [failed(SIGNAL, A)])
    assert SIGNAL not in page(own)


def test_a_signal_that_was_due_and_has_no_series_any_more_is_taken_off() -> None:
    own = Latest()
    own.update("drives", [Measurement(SIGNAL, A, 1.0)])
    own.update("drives", [], due=[SIGNAL])
    assert SIGNAL not in page(own)


def test_signals_that_were_not_due_stay() -> None:
    own = Latest()
    own.update("drives", [Measurement(SIGNAL, A, 1.0)])
    own.update("drives", [Measurement("disk_read_bytes_total", A, 2.0)])
    assert 'disk_io_seconds_total{disk="a",node="n7"} 1.0' in page(own)


def test_sources_that_ended_are_forgotten() -> None:
    own = Latest()
    own.update("reporter:1:0", [Measurement("job_loss", "job/1", 1.0)])
    own.update("reporter:2:0", [Measurement("job_loss", "job/2", float("nan"))])
    assert 'job_loss{job="2"} NaN' in page(own)
    own.forget("reporter:1:0")
    assert 'job="1"' not in page(own)


def test_names_with_quotes_are_escaped() -> None:
    own = Latest()
    own.update(
        "filesystems", [Measurement("node_filesystem_read_only", "node/n7/mount/%22a%22", 0.0)]
    )
    assert r'mountpoint="\"a\""' in page(own)


def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("promtool is missing: install Debian's prometheus (tests/apt.txt)")
        pytest.skip("promtool is missing: install Debian's prometheus (tests/apt.txt)")
    return found


def test_the_page_of_a_machine_passes_promtool(captured: Host, line: Line) -> None:
    for collector in build(captured):
        line.outlet.show(collector.name, collector.read(Everything()))
    server = Server("127.0.0.1:0", line.registry)
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{server.port}/metrics", timeout=30
        ) as answer:
            text = answer.read()
    finally:
        server.close()
    assert b"node_memory_available_bytes" in text
    done = subprocess.run(
        [promtool(), "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_an_address_in_use_is_a_clear_error() -> None:
    server = Server("127.0.0.1:0", CollectorRegistry())
    try:
        with pytest.raises(ConfigError, match=r"agent\.listen: .*: Address already in use"):
            Server(f"127.0.0.1:{server.port}", CollectorRegistry())
    finally:
        server.close()
