"""One file each: what learns and what watches."""
