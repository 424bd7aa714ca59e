"""One file each: what learns and what watches. This is the table of them."""

import numpy as np

from detector.bundle import Arrays
from detector.families.band import Band
from detector.families.context import Context
from detector.families.contract import Scorer
from detector.families.counter import Counter
from detector.families.devices import Devices
from detector.families.event import Events
from detector.families.frozen import Frozen
from detector.families.limits import Limits
from detector.families.peers import Peers
from detector.families.progress import Progress
from detector.families.resistance import Resistance
from detector.families.silence import Silence
from detector.families.stages import Stages
from detector.population import Population
from detector.series import CLASS, F32, Block, Series
from detector.verdict.ledger import Ledger
from detector.verdict.rates import Rates
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
    "silence": Silence,
}


class Families:
    """The families of one engine, made in one place."""

    def __init__(self, cluster: str, series: Series, inventory: Inventory, ledger: Ledger) -> None:
        self._series = series
        self.tails = Tails()
        self.band = Band(self.tails)
        self.counter = Counter(series)
        self.limits = Limits(series)
        self.context = Context(self.tails, series, inventory, self.band.release)
        self.resistance = Resistance(cluster, series, self.context, ledger)
        # Context first: what it takes over, the band leaves alone.
        self.scorers: tuple[Scorer, ...] = (self.context, self.band, self.counter)
        self.rates = Rates()
        self.peers = Peers(series, self.rates)
        self.population = Population(series)
        self.silence = Silence(cluster, inventory, ledger)
        self.devices = Devices(cluster, series, inventory, ledger, self.population, self.silence)
        self.frozen = Frozen(series, self._fast)
        self.events = Events(cluster, ledger)
        self.progress = Progress(cluster, ledger, inventory)
        self.stages = Stages(cluster, series, inventory, ledger)

    def adopt(self, arrays: Arrays) -> None:
        """Take over a trained model, and keep what was learned here since."""
        known = [CLASS[name] for name in arrays.tail_signals.tolist()]
        self.tails.adopt(np.array(known, np.int64), arrays.tail_counts)
        self.context.adopt(arrays)
        self.band.adopt(arrays, self._series.blocks)

    def _fast(self, block: Block) -> F32:
        """Return the levels of a block, smoothed over two minutes."""
        return self.band.state(block).fast
