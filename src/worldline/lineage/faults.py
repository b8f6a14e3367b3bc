"""`find_faults`: which faults of a scope break a system, or that none do."""

from __future__ import annotations

from worldline.lineage.answering import answer
from worldline.lineage.engines.trials import FaultsProgress
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.options import FaultOptions
from worldline.lineage.targets.opening import Targets, open_target
from worldline.model.errors import refuse_no_asserts
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.options.declaring import verb


@verb(FaultOptions, FaultsProgress)
def find_faults(target: Targets, options: FaultOptions) -> FaultsReport:
    """Search for faults that break what a system promises.

    That no handler fails is always promised.

    Parameters
    ----------
    target
        Dedalus files, which are read as one program; ``zoo:NAME``; or what `check`
        takes.

    Returns
    -------
    FaultsReport
        VIOLATED with falsifiers, each of which was run; HOLDS within its scope; or
        UNKNOWN. A bound that is hit makes it UNKNOWN, unless a falsifier is found.

    Raises
    ------
    UsageError
        If the target cannot be loaded, or asked this.
    """
    refuse_no_asserts()
    parameters = options.parameters or {}
    opened = open_target(target, parameters, options.nodes, options.properties)
    with held(), watched():
        return answer(opened, options)
