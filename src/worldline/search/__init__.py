"""Searches: one file per way of looking for a violation.

A search never knows what a node is; it asks a world for events and steps it.
`exhaustive` and `liveness` look at every state, `walks` draws runs at random;
`worldline.runs` says where a search begins, and `report` what it says in the end.
"""
