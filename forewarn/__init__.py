"""Forewarn: early warning for AI clusters.

It imports nothing: the reporter's wheel ships this module and `forewarn.reporter` alone.
"""

__version__ = "0.1.0"
