"""Findings become incidents: join, store, life cycle."""
