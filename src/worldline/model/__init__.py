"""What the user writes, and what it means: the vocabulary of everything above.

Read from the bottom: `values` (plain data), `node` and `message` (what is declared),
`context` (what a handler can do), `network`, `faults` and `hidden` (the cells of a
state), `system`, then `execute` and `semantics` (what an event does).
"""
