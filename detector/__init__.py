"""Samples become findings, findings become incidents."""
