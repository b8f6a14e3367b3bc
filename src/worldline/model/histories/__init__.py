"""Histories of operations, and what makes them linearizable."""
