"""Network mounts: does each still answer, and how fast; asked by a child that can be killed.

A mount whose server is gone keeps whoever touches it; so no thread of the agent ever does.
"""

from collections.abc import Container
from typing import ClassVar

from exporters.children import Answer, Children
from exporters.collector import Host, Measurement, Notice, failed
from exporters.storage.filesystems import mounts
from forewarn import entity as entities
from forewarn.records import Severity

PROBE_SECONDS = 5.0
_PROBE = "storage_mount_probe_seconds"
# Shared file systems that training data and checkpoints lie on.
TYPES = frozenset(
    "9p afs beegfs ceph cifs daos gpfs lustre nfs nfs4 panfs pvfs2 smb3 wekafs".split()
)
FUSE = frozenset(
    "ceph-fuse curvefs dfuse gcsfuse glusterfs goofys juicefs mount-s3 s3fs seaweedfs".split()
)


def is_shared(type_: str) -> bool:
    """Say whether a mount of this type leads to a server."""
    return type_ in TYPES or type_.removeprefix("fuse.") in FUSE


class Mounts:
    """Probes every shared mount with `stat -f`; the time includes that of the process, some ms.

    A mount that is no longer in the table is lost, unless an automounter keeps its place: such
    mounts come and go.
    """

    name = "mounts"
    signals = (_PROBE,)
    deadline_seconds = PROBE_SECONDS + 3.0
    events: ClassVar[dict[str, str]] = {_PROBE: "storage.mount_state"}

    def __init__(
        self,
        host: Host,
        children: Children | None = None,
        command: tuple[str, ...] = ("stat", "-f"),
    ) -> None:
        self._host, self._command = host, command
        self._children = children or Children(PROBE_SECONDS)
        self._states: dict[str, str] = {}  # by path: mounted, hung, lost
        self._notices: list[Notice] = []

    def read(self, due: Container[str]) -> list[Measurement]:
        """Probe all shared mounts beside each other; they take one deadline in all."""
        if _PROBE not in due:
            return []
        table = (self._host.proc / "mounts").read_text(encoding="utf-8", errors="surrogateescape")
        shared = [mount.path for mount in mounts(table) if is_shared(mount.type)]
        places = [mount.path for mount in mounts(table) if mount.type == "autofs"]
        commands = {path: (*self._command, "--", path) for path in shared}
        answers = self._children.run(commands)
        self._vanished(shared, places)
        return [self._probed(path, answers[path]) for path in shared] + self._missing(shared)

    def notices(self) -> list[Notice]:
        """Return the mounts that were lost or came back."""
        seen, self._notices = self._notices, []
        return seen

    def _at(self, path: str) -> str:
        return f"{self._host.entity}/mount/{entities.name(path)}"

    def _probed(self, path: str, answer: Answer) -> Measurement:
        if answer.code is None:
            waited = self._children.deadline_seconds
            self._see(path, "hung", f"{path} gave no answer in {waited:g} s; the probe was killed")
        elif answer.code:
            self._see(path, "lost", f"{path} answers with an error")
        else:
            self._see(path, "mounted", f"{path} answers again")
            return Measurement(_PROBE, self._at(path), answer.seconds)
        return failed(_PROBE, self._at(path))

    def _vanished(self, shared: list[str], automounted: list[str]) -> None:
        """Find mounts that are gone from the table; forget those of an automounter."""
        for path in [path for path in self._states if path not in shared]:
            if any(path == place or path.startswith(place + "/") for place in automounted):
                del self._states[path]
            else:
                self._see(path, "lost", f"{path} is no longer mounted")

    def _missing(self, shared: list[str]) -> list[Measurement]:
        return [failed(_PROBE, self._at(path)) for path in self._states if path not in shared]

    def _see(self, path: str, state: str, told: str) -> None:
        before = self._states.get(path)
        self._states[path] = state
        if before != state and (before or state != "mounted"):
            severity: Severity = "info" if state == "mounted" else "critical"
            code = f"storage.mount_state:{state}"
            self._notices.append(Notice(self._at(path), code, severity, told))
