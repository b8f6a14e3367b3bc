"""What a predictor can be asked to do: a closed list, of which a frame names an entry.

An entry is a function that is given the system and how to work, once, and returns what
answers one question after the other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, cast

from worldline.model.errors import UsageError
from worldline.model.system import System

Answers: TypeAlias = Callable[[bytes], Iterator[bytes]]
"""Returns the parts of the answer to a question, as they are found."""

Work: TypeAlias = Callable[[System, bytes], Answers]
"""Makes that, of a system and of options as bytes."""

FORECASTS = "forecasts"
"""What may follow a snapshot, and what its node should refuse."""

WORKS: Mapping[str, str] = {FORECASTS: "worldline.steer.steering.answering:answering"}
"""Where each is found; nothing else is ever looked up."""


def work_of(name: str, works: Mapping[str, str] = WORKS) -> Work:
    """Return a work of the list.

    Raises
    ------
    UsageError
        If it is not in it.
    """
    place = works.get(name)
    if place is None:
        raise UsageError(
            f"a predictor knows no work {name[:40]!r}",
            remedy=f"it knows {', '.join(works)}",
        )
    module, _, function = place.partition(":")
    return cast("Work", getattr(importlib.import_module(module), function))
