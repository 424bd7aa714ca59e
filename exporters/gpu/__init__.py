"""Accelerators, one package a source."""
