"""A scheduler of a user's own, held to what a scheduler may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from worldline.engine.schedulers.protocol import Draw, Offer, Scheduler
from worldline.model.errors import ModelError, UsageError

_METHODS = ("begin", "appeared", "choose")
_REMEDY = (
    "give the name of one, or an object with name, remembers and the methods begin, "
    "appeared and choose"
)


def checked(given: Any) -> Scheduler:
    """Return a scheduler that was given, or one that watches over it if it is not ours.

    Raises
    ------
    UsageError
        If it is none.
    """
    if type(given).__module__.startswith(__package__):
        scheduler: Scheduler = given
        return scheduler
    is_whole = (
        not isinstance(given, type)
        and isinstance(getattr(given, "name", None), str)
        and isinstance(getattr(given, "remembers", None), bool)
        and all(callable(getattr(given, method, None)) for method in _METHODS)
    )
    if not is_whole:
        what = given.__name__ if isinstance(given, type) else type(given).__name__
        kind = "the class" if isinstance(given, type) else "of the class"
        raise UsageError(f"scheduler= is {kind} {what}, no scheduler", remedy=_REMEDY)
    return CheckedScheduler(given)


@final
class CheckedScheduler:
    """Passes everything on; what goes wrong is told with the scheduler's name."""

    native = None

    def __init__(self, inner: Scheduler) -> None:
        self._inner = inner
        self.name = inner.name
        self.remembers = inner.remembers

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk."""
        self._asked(lambda: self._inner.begin(draw, most_steps))

    def appeared(self, offer: Offer) -> None:
        """Take note of an event."""
        self._asked(lambda: self._inner.appeared(offer))

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return what it chooses.

        Raises
        ------
        ModelError
            If that is none of the offers.
        """
        given = tuple(offers)
        chosen = self._asked(lambda: self._inner.choose(given, step, word))
        for offer in given:
            if offer is chosen:
                return offer
        raise ModelError(
            f"the scheduler {self.name} chooses what was not offered, {chosen!r}",
            remedy="return one of the offers that choose is given",
        )

    def _asked(self, ask: Callable[[], object]) -> object:
        try:
            return ask()
        except (Exception, SystemExit) as error:
            raise ModelError(
                f"the scheduler {self.name} raised {type(error).__name__}: {error}",
                remedy="mend it, or leave scheduler= out",
            ) from error
