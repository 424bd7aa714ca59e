"""What things cost here: short runs, and ratios to a peer in the same run."""
