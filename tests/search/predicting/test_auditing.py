"""The audits of a predictor: nothing goes without, and it does little else."""

from __future__ import annotations

import itertools

import pytest
from tests.search.predicting.counters import A
from tests.search.predicting.test_predictor import later, predictor

import worldline as wl
from worldline.runs.start import Beginning, starts
from worldline.search.predicting import auditing
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.predictor import Predictor
from worldline.search.question import SearchQuery


def late() -> wl.System:
    """A node whose last handler counts the times it has run."""
    runs: list[int] = []

    @wl.node
    class Late:
        count: int = 0

        @wl.call(when=lambda self: self.count < 4)
        def up(self, ctx: wl.Context) -> None:
            self.count += 1

        @wl.call(when=lambda self: self.count == 4)
        def odd(self, ctx: wl.Context) -> None:
            runs.append(1)
            self.count += len(runs)

    calls = [wl.whenever(wl.invoke(Late.up)), wl.whenever(wl.invoke(Late.odd))]
    return wl.System({A: Late()}, workload=calls)


def test_a_handler_that_is_met_later_is_audited_then():
    options = PredictOptions.of(traces=False, faults="declared", max_cost=2)
    one = Predictor(late(), options)
    begin = Beginning(starts(one.onward))
    assert [one.predict(begin).cost for _ in range(2)] == [2, 4]
    with pytest.raises(wl.Nondeterminism, match="the handler of call at a odd"):
        one.predict(begin)


@pytest.mark.parametrize(("states", "audits"), [(auditing.STATES_PER_AUDIT, 1), (1, 2)])
def test_all_is_audited_again_when_much_is_new_and_not_too_often(
    states: int, audits: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(auditing, "STATES_PER_AUDIT", states)
    audited: list[int] = []
    verify = SearchQuery.verify

    def counted(query: SearchQuery, search: object) -> None:
        audited.append(len(query.world.tables.leaves))
        verify(query, search)  # type: ignore[arg-type]

    monkeypatch.setattr(SearchQuery, "verify", counted)
    one = predictor(max_cost=1)
    for steps in range(6):
        one.predict(later(one, steps))
    assert len(audited) == audits
    assert all(b >= 2 * a for a, b in itertools.pairwise(audited))
