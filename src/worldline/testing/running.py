"""One test as it runs: its budget holds, and its failure is explained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from worldline.options.defaults import Defaults, holding
from worldline.runs.report import BaseReport, PropertyFailed
from worldline.testing.budgets import WorldlineBudget


@final
class RunningTest:
    """One test with its budget, from its first fixture to its last.

    Parameters
    ----------
    test
        Its name, with its file.
    """

    def __init__(self, test: str, budget: WorldlineBudget) -> None:
        self._defaults = Defaults(budget.values, budget.folder(test))
        self._is_cut_off = False

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended a search in it, or the minimisation of its run.

        Either is answered with what was learned until then, and raises nothing.
        """
        return self._defaults.is_interrupted or self._is_cut_off

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Let the budget hold for whatever is called, until this ends."""
        with holding(self._defaults):
            yield

    def explained(self, error: BaseException, seconds: float) -> str:
        """Return what to show beside a failure; nothing of other errors.

        Parameters
        ----------
        seconds
            How long to shorten its run; 0 for not at all.
        """
        asked = [
            one
            for report in (_failed(error) if seconds else ())
            for one in reversed(self._defaults.asked)
            if one.answer is report
        ]
        if not asked:
            return ""
        from worldline.testing.shortening import shortened  # for failures alone

        short = shortened(asked[0], seconds)
        self._is_cut_off |= short.is_interrupted
        return short.text


def _failed(error: BaseException) -> Iterator[BaseReport]:
    """Yield the reports that an exception is about, with its causes and its parts."""
    met = [error]
    for one in met:
        if isinstance(one, PropertyFailed) and one.report is not None:
            yield one.report
        more = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        # An exception may be its own cause.
        met += [e for e in (one.__cause__, *more) if e is not None and e not in met]
