"""The vocabulary of everything above: what the user writes, and what it means.

Rooms, from the bottom: `data` (plain values), `usercode` (user code at work), `network`,
`semantics` (when an event is enabled, and what it does), `symmetry`, `histories`. The
files beside them are declarations: `node`, `message`, `context`, `workload`, `faults`,
`properties`, `observers`, `view`, and `system`, which joins them.
"""
