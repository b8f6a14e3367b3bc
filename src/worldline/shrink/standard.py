"""The standard passes, the cheap ones first."""

from __future__ import annotations

from worldline.shrink.chunks import each_step
from worldline.shrink.matching import ANY_LAST, EXACT, LAST
from worldline.shrink.passes.clusters import Clusters
from worldline.shrink.passes.earlier import Earlier
from worldline.shrink.passes.mutations import Mutations
from worldline.shrink.passes.options import SimplerOptions
from worldline.shrink.passes.provenance import CausalPast
from worldline.shrink.passes.removals import (
    Ladder,
    PairRemoval,
    Removal,
    externals,
    internals,
    single_externals,
)
from worldline.shrink.passes.states import Detours
from worldline.shrink.stages import ShrinkPass

CHEAP: tuple[ShrinkPass, ...] = (
    CausalPast(),
    Removal("externals", externals, EXACT),
    Ladder(),
    Clusters(),
    Detours(),
    Removal("single externals", single_externals, LAST),
    Removal("internals", internals, LAST),
    Removal("any last", each_step, ANY_LAST),
    SimplerOptions(),
)
"""Passes that look at parts of a run, or at its events one by one."""

STANDARD: tuple[tuple[ShrinkPass, ...], ...] = (
    CHEAP,
    (Mutations(),),
    (PairRemoval(), Earlier()),
)
"""All passes; each group has its turn when those before it find nothing more."""
