"""Comparisons of a node's fields with what they held, written for speed.

Each event is followed by one, so each is a function made for the fields of the class, for
what the handler that has run can change (`touching`), and for what it has changed last.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeAlias

from worldline.model.data.values import ITSELF
from worldline.worlds.touching.touched import Touched

LiveFields: TypeAlias = dict[str, Any]
KnownFields: TypeAlias = list[Any]
"""What each field held, and then the copies of collections."""

Compares: TypeAlias = Callable[[LiveFields, KnownFields], Collection[str]]


class Expectation(NamedTuple):
    """What is expected of an event that a handler has handled: some changes, or none.

    Attributes
    ----------
    changes
        Says whether there are these changes, or none; None if there may be others, or what
        the fields hold is not so plain that nothing has to be done with it. If it is given
        `names`, it keeps what has changed at once, as nobody is going to undo it.
    names
        The fields; `changes` returns the same object for them.
    keep
        Keeps them anew.
    """

    changes: Callable[[Collection[str] | None], Collection[str] | None]
    names: tuple[str, ...]
    keep: Callable[[], None]


UNKNOWN = Expectation(lambda kept: None, ("",), lambda: None)
"""Nothing is expected, and everything has to be compared."""


@functools.cache
def comparison(
    names: tuple[str, ...], flat: tuple[str, ...], touched: Touched | None = None
) -> Compares:
    """Return what says which fields do not hold what is known, if any.

    The function takes the fields, and what is known: of each field in `names` the object,
    and of each in `flat` what it held.

    Parameters
    ----------
    touched
        What may have changed at all; None if nobody knows.
    """
    looks = "".join(
        f" if not ({test}): r.append({name!r})\n"
        for name, test in _tests(names, flat, touched).items()
    )
    made: Compares = _compiled(f"def made(f, k):\n r = []\n{looks} return r\n")
    return made


@functools.cache
def expectation(
    names: tuple[str, ...],
    flat: tuple[str, ...],
    expected: tuple[str, ...],
    touched: Touched | None,
) -> Callable[[LiveFields, KnownFields], Expectation]:
    """Return what makes, of a node's fields, what is expected if an event changes some.

    Parameters
    ----------
    touched
        What may have changed at all; None if nobody knows.
    """
    tests = _tests(names, flat, touched)
    places = {name: names.index(name) for name in expected}
    others = " and ".join(test for name, test in tests.items() if name not in expected)
    same = " and ".join(f"v{place} is k[{place}]" for place in places.values())
    values = "".join(f"   v{place} = f[{name!r}]\n" for name, place in places.items())
    # Whether a single one has changed is known by now.
    other = "".join(
        f"   if {f'v{place} is k[{place}] or ' if len(expected) > 1 else ''}"
        f"type(v{place}) not in plain: return None\n"
        for place in places.values()
    )
    kept = "; ".join(f"k[{place}] = v{place}" for place in places.values())
    keeps = "".join(f"  k[{place}] = f[{name!r}]\n" for name, place in places.items())
    made: Callable[[LiveFields, KnownFields], Expectation] = _compiled(
        f"def made(f, k):\n def changes(kept):\n  try: are_others_same = {others or 'True'}\n"
        "  except Exception: return None\n"  # one refuses to be compared
        f"  if are_others_same:\n{values}"
        f"   if {same or 'True'}: return nothing\n{other}"
        + (f"   if kept is expected: {kept}\n   return expected\n" if kept else "")
        + f" def keep():\n{keeps}  return None\n"
        " return expectation(changes, expected, keep)\n",
        {
            "plain": ITSELF,
            "nothing": (),
            "expected": expected,
            "expectation": Expectation,
        },
    )
    return made


def _tests(
    names: tuple[str, ...], flat: tuple[str, ...], touched: Touched | None
) -> dict[str, str]:
    """Return, by field, what says that it holds what is known, as far as it is touched."""
    tests: dict[str, list[str]] = {name: [] for name in names}
    for number, name in enumerate(names):
        if touched is None or name in touched.assigned:
            tests[name].append(f"f[{name!r}] is k[{number}]")
    for number, name in enumerate(flat, len(names)):
        if touched is None or name in touched.changed:
            tests[name].append(f"k[{names.index(name)}] == k[{number}]")
    return {name: " and ".join(some) for name, some in tests.items() if some}


def _compiled(text: str, space: dict[str, Any] | None = None) -> Any:
    space = {} if space is None else space
    exec(text, space)  # noqa: S102 -- names of fields, which Python has accepted as such
    return space["made"]
