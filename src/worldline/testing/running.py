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
        return shortened(asked[-1], seconds) if asked else ""
