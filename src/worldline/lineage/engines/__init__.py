"""Searches for faults that undo a goal; they know a subject, and not what it is."""
