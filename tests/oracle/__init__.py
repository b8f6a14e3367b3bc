"""A naive second implementation of the semantics, to compare the worlds with.

Whole global states are copied and kept in Python sets; there are no tables and no
cells. `explorer` runs events and explores, `state` is a global state, `networks` says
what is under way, `door` is what handlers meet, `reader` lets properties look.
`recurrence` judges liveness by components, `fair` by a fixpoint.
"""

from tests.oracle.exploration import Counts, explore
from tests.oracle.explorer import Oracle

__all__ = ["Counts", "Oracle", "explore"]
