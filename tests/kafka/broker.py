"""A real Apache Kafka broker for tests and benches: one KRaft node on 127.0.0.1, in a folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
JARS = HERE.parents[1] / ".cache" / "kafka"
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms128m", "-Xmx384m")
FORMAT_SECONDS, READY_SECONDS, FETCH_SECONDS = 60, 120, 300

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL
log.dirs={logs}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.backoff.ms=500
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
"""
LOGGING = """
appender.console.type=Console
appender.console.name=STDOUT
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.console.ref=STDOUT
"""


def lacking() -> str:
    """Return why no broker can run here; empty if one can."""
    if shutil.which("java") is None:
        return "no java on PATH: the real broker needs Java 17 or newer"
    if not any(JARS.glob("kafka_*.jar")) and shutil.which("mvn") is None:
        return "no mvn on PATH to fetch the broker's jars"
    return ""


def fetch() -> Path:
    """Fetch the jars once; return their folder."""
    if not any(JARS.glob("kafka_*.jar")):
        new = JARS.with_name(f"kafka.{os.getpid()}")
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime")
        command = ("mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), *goal)
        subprocess.run((*command, f"-DoutputDirectory={new}"), check=True, timeout=FETCH_SECONDS)
        new.replace(JARS)
    return JARS


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Broker:
    """One broker; its ports stay the same over restarts.

    `sasl` maps users to passwords and opens a SASL/PLAIN listener; `keystore` (PKCS12, password
    `forewarn`) opens a TLS listener.
    """

    def __init__(
        self, folder: Path, sasl: dict[str, str] | None = None, keystore: Path | None = None
    ) -> None:
        self.folder = folder
        self.ports = {"PLAINTEXT": free_port()}
        self.ports |= {"SASL": free_port()} if sasl else {}
        self.ports |= {"TLS": free_port()} if keystore else {}
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j2.properties").write_text(LOGGING)
        (folder / "server.properties").write_text(self._properties(sasl, keystore))
        self._classpath = f"{fetch()}/*"
        self._format()

    def address(self, listener: str = "PLAINTEXT") -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    def start(self) -> None:
        """Start and wait until it serves."""
        seen = self._log().stat().st_size if self._log().exists() else 0
        with self._log().open("ab") as log:
            options = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
            command = (*JAVA, "-cp", self._classpath, options, "kafka.Kafka", "server.properties")
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while b"Kafka Server started" not in self._log().read_bytes()[seen:]:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"no broker:\n{self._log().read_text()[-3000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop cleanly."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop as if the power failed."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait(timeout=60)
        self._process = None

    def _log(self) -> Path:
        return self.folder / "broker.log"

    def _format(self) -> None:
        tool = ("java", "-cp", self._classpath, "kafka.tools.StorageTool", "format")
        config = ("--standalone", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", "server.properties")
        subprocess.run(
            (*tool, *config), cwd=self.folder, check=True, capture_output=True,
            timeout=FORMAT_SECONDS,
        )  # fmt: skip

    def _properties(self, sasl: dict[str, str] | None, keystore: Path | None) -> str:
        listeners = ",".join(f"{name}://127.0.0.1:{port}" for name, port in self.ports.items())
        text = PROPERTIES.format(
            controller=free_port(), listeners=listeners, logs=self.folder / "logs"
        )
        if sasl:
            users = " ".join(f'user_{user}="{password}"' for user, password in sasl.items())
            login = f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};"
            text += "sasl.enabled.mechanisms=PLAIN\n"
            text += f"listener.name.sasl.plain.sasl.jaas.config={login}\n"
        if keystore:
            text += f"ssl.keystore.type=PKCS12\nssl.keystore.location={keystore}\n"
            text += "ssl.keystore.password=forewarn\nssl.key.password=forewarn\n"
        return text
