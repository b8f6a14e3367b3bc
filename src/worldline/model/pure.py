"""Predicates that depend on their arguments alone, known by their code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any, final

from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.usercode.user_functions import check_function


@final
@dataclass(frozen=True, slots=True)
class Pure:
    """A predicate without captured variables, equal to others of the same code.

    Attributes
    ----------
    defaults
        The frozen defaults of its parameters, as ``lambda view, node, k=k:`` has them:
        with others it is another predicate.
    code
        That of the function when this was made. An audit lends functions other code for
        a while, so it is held here: what is known by its identity has to live.
    """

    function: Callable[..., Any]
    defaults: tuple[Frozen, ...] = ()
    code: CodeType = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.function.__code__)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pure)
            and self.code is other.code
            and self.defaults == other.defaults
        )

    def __hash__(self) -> int:
        # The hash of code goes by its content, which takes long.
        return id(self.code)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Pure:
        """Wrap a function after checking that its code says all about it."""
        if type(function) is FunctionType and function.__defaults__ is None:
            known = _known.get(id(function.__code__))
            if known is not None and function.__kwdefaults__ is None:
                return known
        check_function(function, "a predicate for the view")
        if type(function) is not FunctionType or function.__closure__:
            name = getattr(function, "__name__", repr(function))
            raise ModelError(
                f"{name} captures variables, so what it says cannot be remembered",
                remedy="use a function that depends on its arguments alone",
            )
        if function.__defaults__ or function.__kwdefaults__:
            return cls(function, _frozen_defaults(function))
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        made = _known[id(function.__code__)] = cls(function)
        return made


_known: dict[int, Pure] = {}
"""By the identity of its code, which is kept alive here, each function without defaults."""

_MOST_KNOWN = 4_096


def _frozen_defaults(function: FunctionType) -> tuple[Frozen, ...]:
    named = (function.__kwdefaults__ or {}).items()
    values = [
        *(function.__defaults__ or ()),
        *(part for pair in named for part in pair),
    ]
    return tuple(v if isinstance(v, type) else freeze(v) for v in values)
