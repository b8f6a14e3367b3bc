"""From a question to an outcome."""

from __future__ import annotations

import time

import pytest
from tests.shares import share

from worldline.engine.bounds import Bounds, Meter
from worldline.lineage import dispatch
from worldline.lineage.dispatch import decide, scope_of
from worldline.lineage.engines.trials import SearchResult
from worldline.lineage.options import FaultOptions
from worldline.lineage.targets.opening import open_target
from worldline.lineage.targets.target import FaultQuery
from worldline.model.verdicts import Verdict


def asked(name: str, **options: object) -> tuple[SearchResult, float]:
    """Return an outcome, and the seconds that the user waited for it."""
    target = open_target(f"zoo:{name}", {}, None)
    question = FaultQuery.of(FaultOptions(**options))  # type: ignore[arg-type]
    began = time.monotonic()
    found = decide(target, scope_of(target, question), question)
    return found, time.monotonic() - began


def test_a_falsifier_that_time_did_not_allow_to_make_smaller_says_so(
    monkeypatch: pytest.MonkeyPatch,
):
    whole, _ = asked("simple-deliv", engine="random", eot=8, eff=7, seed=3)
    spent = Meter(Bounds(seconds=-1.0))
    monkeypatch.setattr(dispatch, "_meter", lambda budget: spent)
    found, _ = asked("simple-deliv", engine="random", eot=8, eff=7, seed=3)
    (faults,), (fewest,) = found.falsifiers, whole.falsifiers
    assert (found.verdict, found.bound) == (Verdict.VIOLATED, "seconds")
    assert fewest < faults
    assert "fewer faults may do" in found.notes[0]
    assert (whole.bound, whole.notes) == (None, ())


@pytest.mark.slow
@pytest.mark.parametrize("name", share(["paxos-synod", "flux"], only=["flux"]))
@pytest.mark.parametrize("engine", ["ldfi", "symbolic", "random", "exhaustive"])
def test_a_budget_holds_where_one_formula_or_one_solve_takes_longer(
    engine: str, name: str
):
    found, waited = asked(name, engine=engine, eot=200, eff=199, max_seconds=0.3)
    assert (found.verdict, found.bound) == (Verdict.UNKNOWN, "seconds")
    # One second more, and some for a machine that is busy.
    assert waited < 0.3 + 5
