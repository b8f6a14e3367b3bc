"""Targets of fault injection: Dedalus programs, and systems of Python nodes."""
