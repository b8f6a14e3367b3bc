"""The channel between a process that runs one node and the one that watches over it.

Each line is an object in JSON with one key, which says what it is. To the node:

* ``begin``: its life begins, with the conditions of links, and where scripts stand that go
  on;
* ``links``: the conditions of links from now on;
* ``over``: the run is over, so nothing happens to the node any more; it stays until it is ended.

From it:

* ``bound``: it has its journal and its sockets, and waits for ``begin``;
* ``quiet``: nothing happens to it any more, as it was told;
* ``counts``: of its node, each second and in the end;
* ``told``: what stands beside it tells of failures that it saw coming, and of what was
  refused, with these, if that is another than before;
* ``position``: a script that goes on has come so far;
* ``said``: a line for the watching user;
* ``refused``: why it cannot begin, or go on.

When the pipe to the node closes, the node ends: so no process outlives the one that
watches.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias, final

from worldline.deploy.weather import LinkConditions
from worldline.model.data.identity import NodeId

ChannelLine: TypeAlias = dict[str, Any]

_ALONE_S = 3.0
"""Seconds that a process has to end when the one that has started it is no more."""

QUIET_S = 2.0
"""For how long the nodes of a run that is over are waited for, so that none hears of the end
of another."""

GRACE_S = 10.0
"""For how long a process may take to end by itself."""

WATCHED = "_WORLDLINE_WATCHED"
"""The variable that tells a process which node it runs for another: ``INDEX:RUN``."""

_ALONE = 3
"""The exit code of a process that nobody watches over any more."""


def spelt(line: ChannelLine) -> bytes:
    """Return a line as it is sent."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def conditions_to_json(conditions: LinkConditions) -> ChannelLine:
    """Return the conditions of links as they are sent."""
    side = conditions.side
    return {
        "loss": conditions.loss,
        "delay": conditions.delay,
        "side": None if side is None else sorted(node.name for node in side),
    }


def conditions_of(line: ChannelLine, ids: Sequence[NodeId]) -> LinkConditions:
    """Return the conditions of links that were sent."""
    named, side = {node.name: node for node in ids}, line["side"]
    return LinkConditions(
        loss=line["loss"],
        delay=line["delay"],
        side=None if side is None else frozenset(named[name] for name in side),
    )


@final
class ParentChannel:
    """The channel to the process that watches, which has started this one.

    Made by `take_over`.
    """

    def __init__(self, lines: int, answers: int) -> None:
        self._lines, self._answers = lines, answers
        self._lock = threading.Lock()
        self._early: list[ChannelLine | None] = []
        self._hand: Callable[[ChannelLine | None], None] | None = None

    @classmethod
    def take_over(cls) -> Self:
        """Take standard input and output for it; what others print goes to errors."""
        channel = cls(os.dup(0), os.dup(1))
        os.dup2(2, 1)
        threading.Thread(target=channel._read, name="parent", daemon=True).start()
        return channel

    def send(self, **line: Any) -> None:
        """Send a line; if nobody reads it any more, this process ends soon."""
        with contextlib.suppress(OSError):
            left = spelt(line)
            while left:
                left = left[os.write(self._answers, left) :]

    def listen(self, take: Callable[[ChannelLine | None], None]) -> None:
        """Have each line taken in the running loop; None is taken when there are no more."""
        loop = asyncio.get_running_loop()

        def hand(line: ChannelLine | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(take, line)

        with self._lock:
            self._hand = hand
            for line in self._early:
                hand(line)

    def _read(self) -> None:
        with os.fdopen(self._lines, "rb") as lines:
            for line in lines:
                self._take(json.loads(line))
        self._take(None)
        # Whatever this process is doing, nobody waits for it.
        time.sleep(_ALONE_S)
        os._exit(_ALONE)

    def _take(self, line: ChannelLine | None) -> None:
        with self._lock:
            if self._hand is None:
                self._early.append(line)
            else:
                self._hand(line)
