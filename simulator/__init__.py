"""A physical cluster that never was: seeded, with its ground truth beside."""
