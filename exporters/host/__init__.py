"""The host: processors, memory, clock, kernel log and what hangs on them."""
