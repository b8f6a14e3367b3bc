"""Integers only: interned values, memo tables, and the loops that run over them.

Nothing here knows what a node is. A state is a row of integers; a `Service` (a world)
fills the tables where they miss. Start with `tables`, then `expand`, then `exploration`.
"""
