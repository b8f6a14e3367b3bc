"""``os._exit`` and ``os.abort`` in the user's code: as loud as ``sys.exit`` there.

They end the process as it is, with nothing said, and with the user's status: 0 would
say HOLDS. Only the command can promise that nothing else wants to end it so.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from worldline.model.usercode.places import is_users

_end_at_once, _abort = os._exit, os.abort


class _Installed:
    """The process that raises instead: a child that the user has forked may end."""

    pid = -1


def raise_exits() -> None:
    """Let the user's code raise SystemExit where it would end this process."""
    _Installed.pid = os.getpid()
    os._exit = _exit
    os.abort = _aborted


def _exit(status: int) -> Any:
    _raise_if_users(f"os._exit({status})")
    _end_at_once(status)


def _aborted() -> Any:
    _raise_if_users("os.abort()")
    _abort()


def _raise_if_users(what: str) -> None:
    """Raise SystemExit if the user's code called what called this."""
    caller = sys._getframe(2).f_code.co_filename
    if os.getpid() == _Installed.pid and is_users(caller):
        raise SystemExit(what)
