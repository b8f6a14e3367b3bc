"""The words of fault injection: faults and their scope, reasons, and what can be run.

Lineage-driven search stands above them, and what it searches (Dedalus programs, Python
nodes in rounds) beside or below; neither knows the other.
"""
