"""User code on one thread at a time: a second one that comes meanwhile is refused.

`activity` says of the process what runs in it: handlers on two threads would take each
other's door, guard and errors for their own. Threads that take turns are fine.
"""

from __future__ import annotations

import threading
from _thread import get_ident

from worldline.model.errors import UsageError
from worldline.model.usercode.activity import activity


def claim() -> bool:
    """Say that this thread runs user code until `release`.

    Returns
    -------
    bool
        Whether it did not before, so that it is to be released again.

    Raises
    ------
    UsageError
        If another thread does.
    """
    # One operation of a dict, between which Python switches no threads; and a new tuple
    # each time, which tells whether it was taken.
    mine = (get_ident(),)
    owner = activity.inside.setdefault("thread", mine)
    if owner is mine:
        return True
    if owner == mine:
        return False
    raise _second(owner[0])


def release() -> None:
    """Say that this thread runs user code no more."""
    activity.inside.clear()


def _second(owner: int) -> UsageError:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    me = names.get(get_ident(), get_ident())
    return UsageError(
        f"the thread {me!r} enters a handler, guard, property or observer while the "
        f"thread {names.get(owner, owner)!r} is in one",
        remedy="let threads take turns, or run each system in a process of its own",
    )
