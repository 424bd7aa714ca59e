"""What all tests share: the same examples in every run, and one worker for one real server."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("forewarn", deadline=None, derandomize=True, database=None)
settings.load_profile("forewarn")
# Folders whose tests share a server that is started once: each is one group of pytest-xdist.
SERVERS = ("kafka",)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one server in one worker (with `--dist loadgroup`)."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        if folder in SERVERS:
            item.add_marker(pytest.mark.xdist_group(folder))
