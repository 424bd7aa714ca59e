"""The root-cause runbook table: pure functions over entries that stand in `entries/*.yaml`."""

from runbooks.evidence import Evidence, hardware_class
from runbooks.lint import lint
from runbooks.load import load
from runbooks.lookup import Answer, lookup
from runbooks.match import Candidate, match
from runbooks.model import Entry
from runbooks.propose import Proposal, propose
from runbooks.rank import UNKNOWN, rank
from runbooks.score import Counts
from runbooks.table import Problem, Table
from runbooks.tally import Hit

__all__ = [
    "UNKNOWN", "Answer", "Candidate", "Counts", "Entry", "Evidence", "Hit", "Problem", "Proposal",
    "Table", "hardware_class", "lint", "load", "lookup", "match", "propose", "rank",
]  # fmt: skip
