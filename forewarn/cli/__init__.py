"""The roof: the only place that imports every house, each verb inside its function."""
