"""The root-cause runbook table: pure functions over entries that stand in `entries/*.yaml`."""

from runbooks.load import load
from runbooks.model import Entry
from runbooks.table import Problem, Table

__all__ = ["Entry", "Problem", "Table", "load"]
