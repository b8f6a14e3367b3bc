"""Dedalus programs: parsed, checked, evaluated with lineage, and solved symbolically.

Dedalus is Datalog in which every fact has a place and a time. A program runs in rounds;
its rules derive facts at the same place and time, at the same place in the next round
(``@next``) or at another place in the next round, if the message arrives (``@async``).
"""
