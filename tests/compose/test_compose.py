"""compose.yaml and what it mounts: taken by docker-compose 2, pinned, on 127.0.0.1, consistent."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from forewarn import config
from forewarn.siblings import PACKAGES
from tests.compose import plugin
from tests.compose.stack import COMPOSE, IMAGE, OURS, ROOT, SERVICES
from tests.dashboards.prometheus import need

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
PINNED = re.compile(r"[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z0-9.-]+)?")
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


@pytest.fixture(scope="module")
def compose() -> Path:
    """The binary; where it cannot be had, that is said, in continuous integration as well."""
    found, reason = plugin.find()
    if found is None:
        pytest.skip(reason)
    return found


def check(compose: Path, path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(compose), "-f", str(path), "config", "-q"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(path.parent)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_docker_compose_accepts_the_file(compose: Path) -> None:
    done = check(compose, ROOT / "compose.yaml")
    assert (done.returncode, done.stderr) == (0, "")


def test_docker_compose_refuses_an_unknown_key(compose: Path, tmp_path: Path) -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    bad = tmp_path / "compose.yaml"
    bad.write_text(text.replace("    command: [decide]\n", "    commands: [decide]\n"))
    done = check(compose, bad)
    assert done.returncode != 0
    assert "services.decide" in done.stderr
    assert "commands" in done.stderr


def test_every_image_has_a_pinned_tag() -> None:
    images = [own["image"] for own in SERVICES.values()]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert [image for image in images if not PINNED.fullmatch(image)] == []
    version = VERSION.search((ROOT / "forewarn/__init__.py").read_text("utf-8"))
    assert version
    assert f"forewarn:{version[1]}" == IMAGE


def test_all_parts_are_there() -> None:
    others = {"kafka", "prometheus", "alertmanager", "grafana"}
    assert set(SERVICES) == others | set(OURS)
    assert set(OURS) == {"topics", "simulate", "agent", "detect", "decide"}


def test_every_port_is_published_on_loopback_only() -> None:
    ports = [port for own in SERVICES.values() for port in own.get("ports", [])]
    assert len(ports) >= 4
    assert [port for port in ports if not re.fullmatch(r"127\.0\.0\.1:(\d+):\1", port)] == []


def test_every_service_that_stays_has_a_healthcheck() -> None:
    staying = {name for name, own in SERVICES.items() if own["restart"] != "no"}
    assert staying == set(SERVICES) - {"topics"}
    assert {name for name in staying if not SERVICES[name]["healthcheck"]["test"]} == set()


def test_every_mount_exists_and_every_volume_is_declared() -> None:
    declared = set(COMPOSE["volumes"])
    used = set()
    for name, own in SERVICES.items():
        for volume in own.get("volumes", []):
            outside, inside = volume.split(":")[:2]
            assert inside.startswith("/"), name
            if outside.startswith("./"):
                assert (ROOT / outside).exists(), volume
                assert volume.endswith(":ro"), volume
            else:
                used.add(outside)
    assert used == declared


def test_settings_are_good_and_on_kafka() -> None:
    own = config.load(DEPLOY / "forewarn.toml")
    assert own.bus.kind == "kafka"
    listener = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert f"INSIDE://{own.bus.kafka.bootstrap_servers[0]}" in listener


def test_cluster_is_that_of_the_simulation_and_of_the_labels() -> None:
    own = config.load(DEPLOY / "forewarn.toml")
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    labels = [entry["labels"]["cluster"] for job in scraped for entry in job["static_configs"]]
    assert set(labels) == {own.cluster} == {"simulated"}


def test_prometheus_scrapes_every_stage() -> None:
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    targets = {t for job in scraped for entry in job["static_configs"] for t in entry["targets"]}
    own = config.load(DEPLOY / "forewarn.toml")
    ports = {"agent": own.agent.listen, "detect": own.detect.listen, "decide": own.decide.listen}
    wanted = {f"{name}:{listen.rpartition(':')[2]}" for name, listen in ports.items()}
    served = SERVICES["simulate"]["command"][-1].rpartition(":")[2]
    assert targets == wanted | {f"simulate:{served}"}


def test_prometheus_takes_its_configuration() -> None:
    done = promtool("check", "config", "--syntax-only", str(DEPLOY / "prometheus.yml"))
    assert done.returncode == 0, done.stderr


def test_alertmanager_takes_its_configuration() -> None:
    command = [need("amtool"), "check-config", str(DEPLOY / "alertmanager.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [need("promtool"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def provisioning(part: str) -> dict[str, Any]:
    path = DEPLOY / "grafana/provisioning" / part / "forewarn.yml"
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def test_grafana_finds_the_dashboards_where_they_are_mounted() -> None:
    (mount,) = (v for v in SERVICES["grafana"]["volumes"] if "generated" in v)
    outside, inside, _ = mount.split(":")
    for provider in provisioning("dashboards")["providers"]:
        path = provider["options"]["path"]
        assert path.startswith(f"{inside}/")
        assert list((ROOT / outside / path.removeprefix(f"{inside}/")).glob("*.json"))
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (ROOT / outside / home.removeprefix(f"{inside}/")).is_file()


def test_grafana_asks_the_services_at_their_ports() -> None:
    sources = {own["type"]: own["url"] for own in provisioning("datasources")["datasources"]}
    for kind, url in sources.items():
        name, port = re.fullmatch(r"http://(\w+):(\d+)", url).groups()  # type: ignore[union-attr]
        assert name == kind
        assert SERVICES[name]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_grafana_scrape_interval_is_prometheus() -> None:
    scrape = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["global"]
    (source,) = (s for s in provisioning("datasources")["datasources"] if s["type"] == "prometheus")
    assert source["jsonData"]["timeInterval"] == scrape["scrape_interval"]


def test_nobody_can_do_more_than_look() -> None:
    environment = SERVICES["grafana"]["environment"]
    assert environment["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert environment["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"


def test_image_holds_all_that_the_wheel_needs(tmp_path: Path) -> None:
    """Build the wheel of exactly what the Dockerfile copies, as `pip install` in it would."""
    copied = re.findall(r"^COPY (.+) (\S+)$", DOCKERFILE, re.MULTILINE)
    for sources, _ in copied:
        for name in sources.split():
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, tmp_path / name)
    build = "import hatchling.build as b; print(b.build_wheel('dist'))"
    (tmp_path / "dist").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", build],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    held = zipfile.ZipFile(tmp_path / "dist" / done.stdout.split()[-1]).namelist()
    assert {"forewarn/catalogue/signals.csv", "simulator/scenarios/demo.toml"} <= set(held)
    assert any(name.startswith("runbooks/entries/") for name in held)
    assert set(PACKAGES) <= {name for sources, _ in copied for name in sources.split()}


def test_build_context_lets_through_what_is_copied() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    through = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        n for own in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE) for n in own.split()
    }
    assert through == copied
