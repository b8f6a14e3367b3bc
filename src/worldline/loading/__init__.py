"""Targets: a system, a program or a bug by the name that a user gives, and parameters."""
