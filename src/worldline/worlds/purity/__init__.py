"""Purity of what users write: run again, compared, and with sets in other orders.

`audit` is what searches call. `sample` says what is run again, `scramble` has the sets
that iterate in an order on request, and `rewriting` makes functions use them.
"""
