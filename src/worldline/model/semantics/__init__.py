"""The meaning of an event: when it is enabled, which handler it runs, what it changes.

All worlds call these, so that every question about the meaning has one answer.
"""
