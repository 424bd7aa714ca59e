"""Training jobs that report through `forewarn.reporter`."""
