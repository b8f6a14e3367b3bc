"""Searches: one file per way of looking for a violation.

A search never knows what a node is; it asks a world for events and steps it.
`start` says where a search begins, `report` what it says in the end.
"""
