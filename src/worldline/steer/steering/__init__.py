"""Steering: from snapshots to what may go wrong, and from there to what a node refuses.

`forecasting` answers what may follow a snapshot, `companion` stands beside the nodes and
does as `modes` says, `standing` keeps the filters, `findings` what is to be reported.
"""
