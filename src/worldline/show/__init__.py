"""Traces shown: as text, as diagrams, and exported; everything is read from the file."""
