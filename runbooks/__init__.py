"""The root-cause runbook table: pure functions over entries that stand in `entries/*.yaml`."""
