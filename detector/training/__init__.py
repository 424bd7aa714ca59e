"""Learns a model from recordings and tidy tables, offline: the only place for pandas."""
