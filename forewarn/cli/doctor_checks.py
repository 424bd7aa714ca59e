"""The checks of `forewarn doctor`, each a generator of results."""

import glob
import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from forewarn import config, siblings
from forewarn.config import JobLog, Settings, Webhook
from forewarn.errors import ConfigError

if TYPE_CHECKING:
    from detector.notify.address import Resolver
    from exporters.collector import Host
    from exporters.gpu.nvml.library import Library

LOG_BYTES = 1 << 20  # of a job's log that are looked at
MAX_LOGS = 20  # of one pattern that are looked at


class Result(msgspec.Struct, frozen=True):
    """What a check found, and what to do about it."""

    level: Literal["ok", "warn", "fail"]
    text: str
    fix: str = ""


def python(settings: Settings) -> Iterator[Result]:
    """Python is new enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Result("ok" if good else "fail", f"Python {version}", "" if good else "use 3.11 or newer")


def packages(settings: Settings) -> Iterator[Result]:
    """The root packages are ours: another distribution can ship the same top-level names."""
    strangers = siblings.shadowed()
    for own in strangers:
        text = f"package {own.package} comes from {own.found or 'nowhere'}, not {own.expected}"
        fix = "uninstall the other distribution, or use a venv of its own for Forewarn"
        yield Result("fail", text, fix)
    if not strangers:
        yield Result(
            "ok", f"Forewarn's own packages all come from {Path(siblings.__file__).parent.parent}"
        )


def catalogue(settings: Settings) -> Iterator[Result]:
    """The catalogue loads."""
    from forewarn.catalogue import CATALOGUE

    yield Result("ok", f"{len(CATALOGUE)} signals")


def runbooks(settings: Settings) -> Iterator[Result]:
    """The runbook table loads, with the operator's own entries."""
    import runbooks as table_of

    table = table_of.load([Path(own) for own in settings.decide.runbook_directories])
    active = sum(entry.status == "active" for entry in table.entries.values())
    yield Result("ok", f"{len(table.entries)} entries, {active} active")
    for problem in table.problems:
        yield Result("fail", str(problem), "mend the file; `forewarn runbook lint` checks it")


def state(settings: Settings) -> Iterator[Result]:
    """The state directory can be written."""
    own = Path(settings.agent.state_directory or config.state_directory())
    try:
        own.mkdir(parents=True, exist_ok=True)
        writable = os.access(own, os.W_OK)
    except OSError:
        writable = False
    fix = "" if writable else "set FOREWARN_STATE or agent.state_directory to a writable folder"
    yield Result("ok" if writable else "fail", f"{own}", fix)


def sensors(settings: Settings) -> Iterator[Result]:
    """The collectors of this machine give readings."""
    from exporters.agent import Agent
    from forewarn.cli.agent import once

    samples = once(settings, Agent)
    good = {sample.signal for sample in samples if sample.outcome == "ok"}
    failed = sorted({sample.signal for sample in samples if sample.outcome == "failed"})
    yield Result("ok" if good else "fail", f"{len(good)} signals read")
    if failed:
        yield Result("warn", f"failed: {', '.join(failed)}", "see `forewarn agent --once`")


def gpus(
    settings: Settings, host: "Host | None" = None, library: "Library | None" = None
) -> Iterator[Result]:
    """The driver's library answers for every NVIDIA GPU on the PCI bus."""
    from exporters.collector import Host
    from exporters.gpu.nvml.api import NvmlError
    from exporters.gpu.nvml.library import Library
    from exporters.host import parts

    there = set(parts.gpus(host or Host("node/here")))
    if not there:
        yield Result("ok", "no NVIDIA GPU on the PCI bus")
        return
    try:
        lost = there - (library or Library()).open().nvml.slots()
    except NvmlError as error:
        fix = "install or load the NVIDIA driver; a container needs its libnvidia-ml.so.1"
        yield Result("fail", f"{len(there)} NVIDIA GPUs cannot be read: {error}", fix)
        return
    fix = "what to do: forewarn runbook lookup xid 79"
    for address in sorted(lost):
        yield Result("fail", f"the driver does not see the GPU at {address}", fix)
    yield Result("ok", f"{len(there) - len(lost)} of {len(there)} NVIDIA GPUs answer")


def kernel_log(settings: Settings) -> Iterator[Result]:
    """The kernel log can be read: without it there are no Xid, AER or OOM events."""
    path = settings.agent.kernel_log.path
    try:  # the file's mode says little: with dmesg_restrict the kernel asks for CAP_SYSLOG too
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        yield Result("ok", f"{path} readable")
    except OSError as error:
        fix = "run the agent as root or give it CAP_SYSLOG"
        yield Result("warn", f"{path} not readable: {error.strerror}", fix)
    if settings.agent.kernel_log.accept_user_lines:
        text = "lines written by users are taken for the kernel's (accept_user_lines)"
        yield Result("warn", text, "set agent.kernel_log.accept_user_lines = false outside tests")


def job_logs(settings: Settings) -> Iterator[Result]:
    """The job logs to follow are there, and hold lines of the format that was set."""
    for own in settings.agent.job_log:
        found = glob.glob(own.path, recursive=True)  # noqa: PTH207 - absolute patterns
        if not found:
            fix = "mend agent.job_log path; fine where no job has run yet"
            yield Result("warn", f"{own.path}: no such file", fix)
        for path in sorted(found)[:MAX_LOGS]:
            yield _job_log(Path(path), own)


def _job_log(path: Path, settings: JobLog) -> Result:
    from exporters.job.job_logs import FORMATS

    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            lines = file.read(LOG_BYTES).decode("utf-8", "replace").replace("\r", "\n").splitlines()
    except OSError as error:
        return Result("fail", f"{path}: {error.strerror}", "let the agent's user read it")
    own = FORMATS[settings.format]()
    taken = sum(bool(own.read(line, 0)) for line in lines)
    if lines and not taken:
        text = f"{path}: none of its last {len(lines)} lines is a step as {settings.format} logs it"
        others = " or ".join(sorted(set(FORMATS) - {settings.format}))
        return Result("warn", text, f"set format of this agent.job_log: {others}?")
    return Result("ok", f"{path}: {taken} of its last {len(lines)} lines tell of steps")


def clock(settings: Settings) -> Iterator[Result]:
    """The clock is synchronised: causes are ordered in time."""
    from exporters.agent import Agent
    from forewarn.cli.agent import once

    own = {s.signal: s for s in once(settings, Agent) if s.signal.startswith("node_clock_")}
    synced = own.get("node_clock_synchronized")
    offset = own.get("node_clock_offset_seconds")
    if synced is None or synced.outcome != "ok":
        yield Result("warn", "cannot tell whether the clock is synchronised")
    elif not synced.value:
        yield Result("warn", "the clock is not synchronised", "run chrony or another NTP client")
    elif offset is not None and offset.value is not None:
        yield Result("ok", f"synchronised, offset {offset.value * 1000:.2f} ms")


def ports(settings: Settings) -> Iterator[Result]:
    """The addresses to listen on are free, or held by us already."""
    stages = {
        "agent": settings.agent.listen,
        "detect": settings.detect.listen,
        "decide": settings.decide.listen,
    }
    for stage, listen in stages.items():
        host, port = config.address(listen)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
                yield Result("ok", f"{stage}: {listen} is free")
            except OSError as error:
                text = f"{stage}: {listen}: {error.strerror}"
                yield Result("warn", text, f"{stage} runs already, or set {stage}.listen")


def webhooks(settings: Settings, resolver: "Resolver | None" = None) -> Iterator[Result]:
    """Each webhook has an address that may be told and, where its body is signed, a secret."""
    if not settings.webhook:
        yield Result("warn", "no webhook is configured", "add [[webhook]]; see docs/webhooks.md")
    for own in settings.webhook:
        yield _way(own, resolver) or _signature(own)


def _way(webhook: Webhook, resolver: "Resolver | None") -> Result | None:
    """Return why nothing can be delivered to a webhook; None if its address is good."""
    from detector.notify.address import AddressError, RefusedError, check_url, reached, resolve

    fix = f"set webhook.url of {webhook.name}; see docs/webhooks.md"
    try:
        check_url(webhook.url, webhook.name)
        reached(webhook.url, resolver or resolve)
    except ConfigError as error:
        return Result("fail", str(error), fix)
    except RefusedError as error:
        return Result("fail", f"{webhook.name}: {error}", fix)
    except AddressError as error:  # a name that is known only elsewhere, or not yet
        return Result("warn", f"{webhook.name}: {error}", fix)
    return None


def _signature(webhook: Webhook) -> Result:
    """Say whether a receiver can know who tells it."""
    name, secret = webhook.name, webhook.secret.read() is not None
    if webhook.format == "alertmanager":  # signs nothing: the secret is a header, and optional
        told = "with" if secret else "without"
        return Result("ok", f"{name}: alertmanager, {told} an Authorization header")
    if secret:
        return Result("ok", f"{name}: signed")
    fix = f"set webhook.secret of {name}: receivers cannot verify it else"
    return Result("warn", f"{name}: unsigned", fix)


def kafka(settings: Settings) -> Iterator[Result]:
    """The checksum extension is native, and the topics are as they should be."""
    native = importlib.util.find_spec("crc32c") is not None
    fix = "" if native else "pip install crc32c: without it Kafka clients are eight times slower"
    yield Result("ok" if native else "fail", "crc32c extension", fix)
    if settings.bus.kind == "embedded":
        yield Result("ok", "embedded bus: no broker needed")
        return
    from forewarn import topics

    report = topics.describe(settings.bus.kafka)
    if report.fine():
        yield Result("ok", f"topics on {', '.join(report.bootstrap_servers)} are right")
    for topic in report.topics:
        if topic.status == "missing":
            yield Result("fail", f"topic {topic.name} is missing", "forewarn topics create")
        for own in topic.differences:
            text = f"topic {topic.name}: {own.setting} is {own.found}, wanted {own.wanted}"
            yield Result("warn", text, own.fix)
