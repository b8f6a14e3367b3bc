"""Lineage-driven fault injection: from a good outcome back to the faults that undo it.

Knows faults, goals and support graphs. What runs a system under faults is a
`worldline.model.injection.subject.Subject`; no front end is known here.
"""
