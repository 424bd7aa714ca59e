"""NVIDIA accelerators, read through the driver's own library (NVML)."""
