"""One test as it runs: its budget holds, and its failure is explained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from worldline.options.defaults import Defaults, holding
from worldline.runs.report import PropertyFailed
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
        if not isinstance(error, PropertyFailed) or error.report is None or not seconds:
            return ""
        from worldline.testing.shortening import shortened  # for failures alone

        asked = [one for one in self._defaults.asked if one.answer is error.report]
        if not asked:
            return ""
        short = shortened(asked[-1], seconds)
        self._is_cut_off |= short.is_interrupted
        return short.text
