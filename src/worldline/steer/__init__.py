"""Steering: a node that sees what may go wrong next, and steps aside.

`snapshots` gathers what a node and its neighbours are in at one time; from there what may
follow is predicted; `filters` keep it from happening, and the immediate check catches what
nobody saw coming.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010: CrystalBall.
"""
