"""Network adapters."""
