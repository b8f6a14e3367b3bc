"""Minimisation of recorded runs: a trace in, a shorter one of the same violation out.

Hands the run to `worldline.shrink`, with the searches that this may not know, and makes
evidence of what comes back. Start reading in `minimize`.
"""
