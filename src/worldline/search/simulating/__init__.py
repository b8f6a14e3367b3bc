"""Simulation: runs by the clock, many seeds, the first that violates something."""
