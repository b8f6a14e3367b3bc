"""Explanations of faults, and of why an outcome needs what they take away."""
