"""Replaying a recording: journals merged, all nodes run in one process, every event judged.

`happenings` reads what the journals say, `rerunning` lets it happen, `allowed` follows it
on the declared network, and `replay` is what users call. Where a recording comes from,
and how nodes are deployed, is not known here.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3.2: the whole system replayed in one process, in causal order.
"""
