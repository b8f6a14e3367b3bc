"""Questions to elements that said yes and are asked again, written out for speed.

Whoever writes a field again and again has the same few elements asked each time. To go
through lists of them, and to spread what each is given, takes longer than most of them. So
a function is written for so many fields, readers and elements, which asks them in one go.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.data.values import ITSELF
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.running import Series, cause
from worldline.model.view import View
from worldline.steer.checking.counts import CheckCounts
from worldline.worlds.kept import fresh

Agree: TypeAlias = Callable[[Series], bool]
"""Lets elements see what some fields hold now, and says whether they are true as before, in
a series that was entered; where it says no, or something was raised, nothing is known."""

MARK = 2
"""Of the code of properties, as `Series.enter` wants to know."""


class ReadField(NamedTuple):
    """A field, and where those that read it look for what it holds."""

    name: str
    views: list[dict[str, Any]]


class AskedElement(NamedTuple):
    """An element: its function, what that is given, whether who returns nothing agrees."""

    function: Callable[..., Any]
    view: View
    nodes: tuple[NodeId, ...]
    may_say_nothing: bool


class Concerned(NamedTuple):
    """Whom it concerns what elements say.

    Attributes
    ----------
    failed
        Takes which of the elements has raised something, and what.
    doubt
        Is called where one says no, or has raised something, or asks something else.
    agreed
        Is called where all say yes.
    known
        Is emptied while they are asked if they turn out to ask other things than before.
    spoilt, stuck
        Where there is something in one of them, nobody is asked: more has to be.
    counts
        Of what was judged.
    """

    failed: Callable[[int, BaseException], None]
    doubt: Callable[[], None]
    agreed: Callable[[], None]
    known: Collection[Any]
    spoilt: Collection[Any]
    stuck: Collection[Any]
    counts: CheckCounts


def agreement(
    shown: dict[str, Any],
    values: dict[str, Any],
    fields: Sequence[ReadField],
    asked: Sequence[AskedElement],
    concerned: Concerned,
) -> Agree:
    """Return what asks some elements, and counts it if all agree.

    Parameters
    ----------
    shown
        Has what the fields hold as it was shown last.
    values
        Has what they hold.
    """
    numbers = tuple(len(field.views) for field in fields)
    shapes = tuple((len(one.nodes), one.may_say_nothing) for one in asked)
    given = [
        *(part for name, views in fields for part in (name, *views)),
        *(
            part
            for function, view, nodes, _ in asked
            for part in (function, view, *nodes)
        ),
    ]
    made: Agree = _written(numbers, shapes)(shown, values, *concerned, *given)
    return made


@functools.lru_cache(maxsize=256)
def _written(
    numbers: tuple[int, ...], shapes: tuple[tuple[int, bool], ...]
) -> Callable[..., Agree]:
    """Return what makes such a function.

    Parameters
    ----------
    numbers
        How many read each field.
    shapes
        How many nodes each element is given, and whether it may return nothing.
    """
    names = [*_names(numbers, shapes)]
    shows = "".join(
        f"  x = values[f{n}]\n"
        "  if type(x) not in plain: x = fresh(x)\n"
        f"  {' = '.join(f'{own}[f{n}]' for own in ('shown', *_views(n, number)))} = x\n"
        for n, number in enumerate(numbers)
    )
    asks = "".join(
        f"    and {_said(n, *shape)} and (at := {n + 1})\n"
        for n, shape in enumerate(shapes)
    )
    text = _TEXT.format(names=", ".join(names), shows=shows, asks=asks)
    space: dict[str, Any] = {
        "activity": activity,
        "cause": cause,
        "Diverged": Diverged,
        "fresh": fresh,
        "plain": ITSELF,
        "mark": MARK,
    }
    # As of this file: whoever looks for what is asked, looks for what Worldline has called.
    exec(compile(text, __file__, "exec"), space)  # noqa: S102 -- nothing of the user's
    made: Callable[..., Agree] = space["made"]
    return made


_TEXT = """\
def made(
 shown, values, failed, doubt, agreed, known, spoilt, stuck, counts, {names}
):
 def agree(series):
  if spoilt or stuck: return False
{shows}
  at, agrees = 0, False
  series.enter(mark)
  activity.dispensable = activity.guarding = True
  try:
   agrees = (activity.stop is None
{asks}
    and known and activity.stop is None)
  except (Exception, Diverged) as error: failed(at, error)
  except BaseException as error: raise cause(error) from None
  finally:
   activity.dispensable = activity.guarding = False
   activity.stop = None
   series.leave()
  if agrees:
   counts.checked += 1
   agreed()
   return True
  doubt()
  return False
 return agree
"""


def _said(number: int, nodes: int, may_say_nothing: bool) -> str:
    """Return what asks an element whether it agrees."""
    given = ", ".join((f"v{number}", *_nodes(number, nodes)))
    call = f"e{number}({given})"
    return (
        f"((x := {call}) is True or x is None)"
        if may_say_nothing
        else f"{call} is True"
    )


def _names(numbers: Sequence[int], shapes: Sequence[tuple[int, bool]]) -> Iterator[str]:
    for n, number in enumerate(numbers):
        yield from (f"f{n}", *_views(n, number))
    for n, (nodes, _) in enumerate(shapes):
        yield from (f"e{n}", f"v{n}", *_nodes(n, nodes))


def _views(field: int, number: int) -> list[str]:
    return [f"o{field}_{n}" for n in range(number)]


def _nodes(element: int, number: int) -> list[str]:
    return [f"n{element}_{n}" for n in range(number)]
