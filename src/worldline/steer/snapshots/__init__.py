"""Snapshots: what a node and its neighbours are in at one time, though nothing stops.

`records` has what a checkpoint says, `channels` counts messages, `gathering` asks for the
checkpoints of neighbours, and `assembling` makes one state of them.
"""
