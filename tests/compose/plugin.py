"""docker-compose 2 for tests: the machine's own, or Debian 13's package unpacked into .cache.

Its `config` needs no container engine. The mirror is the one that this machine already uses.
"""

import re
import shutil
import subprocess
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "compose"
SUITE, PACKAGE = "trixie", "docker-compose"
INSIDE = Path("usr/libexec/docker/cli-plugins/docker-compose")
SECONDS = 300
_URI = re.compile(r"(?:^URIs:\s*|^deb\s+(?:\[[^\]]*\]\s+)?)(\S+/debian/?)(?:\s|$)", re.MULTILINE)
_SIGNED = re.compile(r"^Signed-By:\s*(\S+)$|\[[^\]]*signed-by=([^\s\]]+)", re.MULTILINE)


def find() -> tuple[Path | None, str]:
    """Return the binary, or None and why there is none."""
    own = shutil.which("docker-compose")
    if own is not None and _is_second(own):
        return Path(own), ""
    if not (CACHE / INSIDE).exists():
        reason = _fetch()
        if reason:
            return None, reason
    return CACHE / INSIDE, ""


def _is_second(command: str) -> bool:
    version = [command, "version", "--short"]
    done = subprocess.run(version, capture_output=True, text=True, check=False)
    major = done.stdout.strip().removeprefix("v").partition(".")[0]
    return done.returncode == 0 and major.isdigit() and int(major) >= 2


def _fetch() -> str:
    """Unpack the package into CACHE; return why that was not possible, empty if it was."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "no docker-compose 2, and no apt-get to fetch Debian's"
    listed = "".join(p.read_text("utf-8") for p in _sources())
    mirror, key = _URI.search(listed), _SIGNED.search(listed)
    if mirror is None:
        return "no docker-compose 2, and no mirror of Debian among apt's sources"
    signed = f" signed-by={key[1] or key[2]}" if key else ""
    scratch = CACHE.with_name("compose.new")
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        _unpack(scratch, f"deb [arch={_architecture()}{signed}] {mirror[1]} {SUITE} main\n")
    except (OSError, subprocess.SubprocessError) as error:
        return f"no docker-compose 2, and Debian's could not be fetched: {error}"
    shutil.rmtree(CACHE, ignore_errors=True)
    scratch.replace(CACHE)
    return ""


def _sources() -> list[Path]:
    apt = Path("/etc/apt")
    folder = apt / "sources.list.d"
    found = [
        apt / "sources.list",
        *sorted(folder.glob("*.sources")),
        *sorted(folder.glob("*.list")),
    ]
    return [path for path in found if path.is_file()]


def _architecture() -> str:
    return subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()


def _unpack(folder: Path, source: str) -> None:
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "sources.list").write_text(source)
    apt = [
        "apt-get", "-qq",
        "-o", f"Dir::Etc::sourcelist={folder / 'sources.list'}", "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}",
        "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    for verb in (["update"], ["download", f"{PACKAGE}/{SUITE}"]):
        subprocess.run([*apt, *verb], cwd=folder, check=True, capture_output=True, timeout=SECONDS)
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True, timeout=SECONDS)
    for name in ("lists", "cache", "sources.list", package.name):
        whole = folder / name
        if whole.is_dir():
            shutil.rmtree(whole)
        else:
            whole.unlink()
