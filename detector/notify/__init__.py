"""Incidents are told: outbox, formats, delivery."""
