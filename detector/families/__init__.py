"""One file each: what learns and what watches. This is the table of them."""

from detector.families.band import Band
from detector.families.context import Context
from detector.families.contract import Scorer
from detector.families.counter import Counter
from detector.families.event import Events
from detector.families.limits import Limits
from detector.families.peers import Peers
from detector.families.progress import Progress
from detector.series import Series
from detector.verdict.ledger import Ledger
from detector.verdict.tails import Tails
from forewarn.catalogue import Family
from forewarn.inventory import Inventory

# Which class speaks for which family; `limits` is the absolute side of band and counter.
FAMILIES: dict[Family, type] = {
    "band": Band,
    "context": Context,
    "counter": Counter,
    "peers": Peers,
    "progress": Progress,
    "event": Events,
}


class Families:
    """The families of one engine, made in one place."""

    def __init__(self, cluster: str, series: Series, inventory: Inventory, ledger: Ledger) -> None:
        self.tails = Tails()
        self.band = Band(self.tails)
        self.counter = Counter()
        self.limits = Limits(series)
        self.context = Context(self.tails, series, inventory, self.band.release)
        # Context first: what it takes over, the band leaves alone.
        self.scorers: tuple[Scorer, ...] = (self.context, self.band, self.counter)
        self.peers = Peers(series)
        self.events = Events(cluster, ledger)
        self.progress = Progress(cluster, ledger)
