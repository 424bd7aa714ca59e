"""A sensor becomes a sample: collectors, and the agent that runs them."""
