"""What all tests share: the same examples in every run, and one worker for one real server."""

from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("forewarn", deadline=None, derandomize=True, database=None)
settings.load_profile("forewarn")
HERE = Path(__file__).parent
# What takes longest begins first. A folder's tests share a server that is started once.
FIRST = ("test_readme.py", "kafka")


class OneWorkerEach(LoadScopeScheduling):
    """Gives each file to one worker, and of a folder in FIRST all files to the same.

    The groups of pytest-xdist (`--dist loadgroup`) do nothing under pytest 9.2: xdist 3.8 writes
    the group to an attribute of the item that is no longer read.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        folders = [f"tests/{name}" for name in FIRST if file.startswith(f"tests/{name}/")]
        return folders[0] if folders else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneWorkerEach:
    """Schedule by file and by server."""
    config.option.loadscopereorder = False
    return OneWorkerEach(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what takes longest; all else keeps its order."""
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] not in FIRST)
