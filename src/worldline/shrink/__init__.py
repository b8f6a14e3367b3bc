"""Shrinking: from a run that violates something to a shorter one that does, too.

Knows a schedule, and a predicate that says whether it still violates the same; which
searches there are is handed in from above. Start reading in `campaign`; `candidate` runs
what the passes (`passes`) propose.
"""
