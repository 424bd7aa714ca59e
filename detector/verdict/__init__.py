"""From surprise to a finding: persistence, floors, hysteresis."""
