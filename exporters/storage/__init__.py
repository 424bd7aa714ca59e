"""Drives and file systems."""
