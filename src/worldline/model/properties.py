"""Properties: what must hold in every state, in the end, or somewhere."""

from __future__ import annotations

import enum
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from worldline.model.errors import ModelError
from worldline.model.usercode import activity, running
from worldline.model.usercode.one_thread import claim, release
from worldline.model.usercode.running import refuse, text_of
from worldline.model.usercode.user_functions import check_function, verdict
from worldline.model.view import View


class PropertyKind(enum.Enum):
    """The kind of a property: when it must be true."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    SOMETIMES = "sometimes"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A predicate over all nodes, with its name and kind.

    Attributes
    ----------
    role
        What messages call it.
    """

    name: str
    kind: PropertyKind
    predicate: Callable[[View], Any]
    role: str = "property"

    def __call__(self, view: View) -> Any:
        return self.predicate(view)

    def judge(self, view: View) -> Judgement:
        """Evaluate the property in one state.

        Raises
        ------
        ModelError
            If the predicate returns anything but a bool, or nothing without an assert
            in it, raises anything but AssertionError, or does not return.
        """
        claimed = claim()
        activity.guarding = True
        activity.judging = what = f"{self.role} {self.name}"
        try:
            value = running.run_pure(lambda: self.predicate(view), hash(self.name))
        except AssertionError as error:
            return Judgement(False, text_of(error) or _asserted(error))
        except BaseException as error:
            refuse(what, self.predicate, error, _REMEDY)
        finally:
            activity.judging = ""
            activity.guarding = False
            if claimed:
                release()
        said = verdict(value, self.predicate, what)
        return Judgement(said, "")


_REMEDY = "a property returns a bool or fails an assert in every state"


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement on a property in one state, with the message of a failed assert."""

    holds: bool
    message: str


def predicate_of(function: Callable[[View], Any]) -> Callable[[View], Any]:
    """Return the function that a property was declared with; any other as it is."""
    return function.predicate if isinstance(function, Property) else function


def _asserted(error: AssertionError) -> str:
    return traceback.extract_tb(error.__traceback__)[-1].line or "assert"


def _named(predicate: Callable[[View], Any], kind: PropertyKind) -> Property:
    if isinstance(predicate, Property):
        raise ModelError(
            f"property {predicate.name} is declared twice: as {predicate.kind.value} "
            f"and as {kind.value}",
            remedy="keep one of @wl.safety, @wl.liveness and @wl.sometimes",
        )
    name = getattr(predicate, "__name__", "property")
    check_function(
        predicate, f"property {name}", arguments=1, like="a function of (view)"
    )
    return Property(name, kind, predicate)


def safety(predicate: Callable[[View], Any]) -> Property:
    """Declare what must hold in every reachable state."""
    return _named(predicate, PropertyKind.SAFETY)


def liveness(predicate: Callable[[View], Any]) -> Property:
    """Declare what must hold eventually, and for good."""
    return _named(predicate, PropertyKind.LIVENESS)


def sometimes(predicate: Callable[[View], Any]) -> Property:
    """Declare what must hold in at least one reachable state."""
    return _named(predicate, PropertyKind.SOMETIMES)
