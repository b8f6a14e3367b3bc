"""Steering: a node that sees what may go wrong next, and steps aside.

`snapshots` gathers what a node and its neighbours are in at one time; from there
`steering` has predicted what may follow, and keeps it from happening; an unforeseen
failure is caught by `checking`. On a host a process of its own predicts (`process`).
`deployed` and `simulating` are what users call.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010: CrystalBall.
"""
