"""Dashboards as code."""
