"""Consequence prediction: what can go wrong from a state on, the likely first.

`predict` is what users call. From a state, be it the initial one or that of a recorded
run, all that messages lead to is searched before what nodes do by themselves is repeated;
what is put off is taken up later, at a price. So it is far deeper than an exhaustive
search after the same number of states, and the same once nothing is left.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.2. There, what is put off is forgotten.
"""

from __future__ import annotations

from worldline.loading.opening import SystemTarget, open_system
from worldline.model.errors import refuse_no_asserts
from worldline.model.faults import Faults
from worldline.model.system import System
from worldline.model.usercode.interrupts import held
from worldline.options.declaring import verb
from worldline.runs.prefix import Prefix
from worldline.runs.timeless import without_timeless
from worldline.search.asked import asked_by
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.predictor import Predictor
from worldline.search.predicting.report import PredictReport
from worldline.search.question import begun
from worldline.search.report import Progress


@verb(PredictOptions, Prefix, Progress, Faults)
def predict(system: SystemTarget, options: PredictOptions) -> PredictReport:
    """Search what can follow a state, and report each property that is violated.

    It does not end at the first violation: there is one prediction for each safety
    property, a cheapest, and the search ends at a bound, or where nothing is left. The
    runs are as they were found, and not the shortest; `minimize` makes them so.

    Parameters
    ----------
    system
        What to run; see `check`.

    Raises
    ------
    ModelError
        If the system is described wrongly, or a handler is not deterministic.
    UsageError
        If the options contradict each other, or say nothing of this system.
    """
    refuse_no_asserts()
    opened = open_system(system, options.parameters)
    return without_timeless(opened, options, _predicted)


def _predicted(made: System, options: PredictOptions) -> PredictReport:
    made = asked_by(made, options.until)
    with held():
        predictor = Predictor(made, options)
        try:
            return predictor.predict(begun(made, options.from_, predictor.onward))
        finally:
            predictor.forget()
