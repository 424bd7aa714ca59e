"""The table of dashboards: one line each, in the order in which they are read."""

from dashboards.fleet import FLEET
from dashboards.gpu import GPU
from dashboards.itself import ITSELF
from dashboards.job import JOB
from dashboards.network import NETWORK
from dashboards.spec import Dashboard
from dashboards.storage import STORAGE

DASHBOARDS: tuple[Dashboard, ...] = (
    FLEET,
    GPU,
    NETWORK,
    STORAGE,
    JOB,
    ITSELF,
)
