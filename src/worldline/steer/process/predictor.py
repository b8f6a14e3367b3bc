"""The predictor of a host: a process that is asked, and may die, be late, or talk nonsense.

The host goes on in each case. Of the questions that a node has while another is being
answered only the newest is kept; one that was under way when the predictor died is not
asked again, as it may be what killed it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self, final

from worldline.loading.processes import environment, python_of
from worldline.model.errors import UsageError, one_line
from worldline.model.system import System, SystemOrigin
from worldline.steer.process.connection import ChildConnection
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""Before a predictor that died is started again; doubled each time."""

PATIENCE_S = 60.0
"""Seconds that an answer may take; then the predictor is ended."""

_GRACE_S = 0.5
"""Seconds that a process has to end by itself once its connection has."""

_LOOK_S = 0.01

_MOST_SAID = 10
"""Ways in which predictions failed that are told, each once."""


@final
@dataclass(slots=True)
class PredictorCounts:
    """The counts of a predictor.

    Attributes
    ----------
    asked, answered
        Questions that it was given, and those that it answered to their end.
    superseded
        Those that it was not given, as a newer one of the same node came first.
    failed
        Those of which it said that they cannot be answered.
    deaths
        How often it ended by itself, or had to be ended.
    """

    asked: int = 0
    answered: int = 0
    superseded: int = 0
    failed: int = 0
    deaths: int = 0

    def to_json(self) -> dict[str, int]:
        """Return them as plain JSON data."""
        return asdict(self)


class _Question(NamedTuple):
    question: bytes
    take: Callable[[bytes], None]


@final
class PredictorProcess:
    """The predictor of one host, shared by its nodes.

    It is a context manager: inside it there is a process, but for the pauses after it
    died. Everything of it belongs to the event loop in which it was entered, which never
    waits for it.

    Parameters
    ----------
    system
        The system, which the process loads by its target.
    work, options
        What it is asked to do, and how; see `works`.
    say
        Takes a line for whoever watches.
    patience
        Seconds that an answer may take.
    module
        What is run with ``python -m``, and given the number of a socket.

    Attributes
    ----------
    counts
        What became of the questions.

    Raises
    ------
    UsageError
        If the system has no target, or this machine cannot do it.
    """

    def __init__(
        self,
        system: System,
        work: str,
        options: bytes = b"",
        *,
        say: Callable[[str], None],
        patience: float = PATIENCE_S,
        module: str = "worldline.steer.process",
    ) -> None:
        self._begin = _begin(system, work, options)
        self._say, self._patience, self._module = say, patience, module
        self._waiting: dict[Hashable, _Question] = {}
        self._asked: _Question | None = None
        self._number = 0
        self._late: asyncio.TimerHandle | None = None
        self._child: ChildConnection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._living: asyncio.Task[None] | None = None
        self._failures: set[str] = set()
        self._has_said = False
        self.counts = PredictorCounts()

    @property
    def pid(self) -> int | None:
        """The number of the present process; None if there is none."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        self._living = asyncio.ensure_future(self._live())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def ask(
        self, who: Hashable, question: bytes, take: Callable[[bytes], None]
    ) -> None:
        """Ask something, in the place of what the same one still waits to ask.

        Parameters
        ----------
        who
            A node, or whatever else has questions of its own.
        take
            Takes each part of the answer as it comes; perhaps none ever does.
        """
        if who in self._waiting:
            self.counts.superseded += 1
        self._waiting[who] = _Question(question, take)
        self._ask_next()

    async def close(self) -> None:
        """End the process."""
        if self._living is None:
            return
        self._living.cancel()
        await asyncio.wait([self._living])
        self._living = None

    # ------------------------------------------------------------------------ inside

    async def _live(self) -> None:
        """Have a process, one after the other, until this is cancelled."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE_S
        while True:
            began = loop.time()
            why = await self._one_life()
            self.counts.deaths += 1
            if not self._has_said:
                self._has_said = True
                self._say(f"steering: off ({why})")
            if loop.time() - began > LONGEST_PAUSE_S:
                pause = FIRST_PAUSE_S
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _one_life(self) -> str:
        """Have a process until it ends; return why it did."""
        try:
            child, process = await self._start()
        except OSError as error:
            return f"no predictor can be started: {error.strerror or error}"
        self._child, self._process = child, process
        try:
            why = await child.ended
            return why or await self._exit(process)
        finally:
            self._child = self._process = self._asked = None
            if self._late is not None:
                self._late.cancel()
            child.close()
            await _ended(process)

    async def _start(self) -> tuple[ChildConnection, subprocess.Popen[bytes]]:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = subprocess.Popen(  # noqa: S603 -- our own interpreter
                    [*python_of(self._module), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env=environment(),
                    process_group=0,  # Ctrl-C is for the host
                )
            ours.setblocking(False)
            child = ChildConnection(
                ready=self._ask_next, take=self._take, over=self._over
            )
            await loop.create_unix_connection(lambda: child, sock=ours)
        except BaseException:
            ours.close()
            raise
        child.send("begin", *self._begin)
        return child, process

    async def _exit(self, process: subprocess.Popen[bytes]) -> str:
        """Return how a process has ended that has closed its connection."""
        for _ in range(round(_GRACE_S / _LOOK_S)):
            if process.poll() is not None:
                return f"predictor exited {process.returncode}"
            await asyncio.sleep(_LOOK_S)
        return "predictor does not answer any more"

    def _ask_next(self) -> None:
        """Give the predictor the question that waits longest, if it has nothing to do."""
        child = self._child
        if child is None or not child.is_ready or self._asked or not self._waiting:
            return
        asked = self._asked = self._waiting.pop(next(iter(self._waiting)))
        self._number += 1
        self.counts.asked += 1
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(self._patience, self._give_up, child)
        try:
            child.send("ask", self._number, asked.question)
        except Malformed:
            size = len(asked.question)
            self._over(self._number, f"a question of {size:,} bytes is too large")

    def _take(self, number: int, part: bytes) -> bool:
        """Take a part of an answer; say whether anything was asked that it answers."""
        if self._asked is None or number != self._number:
            return False
        self._asked.take(part)
        return True

    def _over(self, number: int, failure: str | None) -> bool:
        """Take note that a question is answered, or cannot be; say whether it was asked."""
        if self._asked is None or number != self._number or self._late is None:
            return False
        self._late.cancel()
        self._asked = None
        if failure is None:
            self.counts.answered += 1
            if self._has_said:
                self._has_said = False
                self._say("steering: on")
        else:
            self.counts.failed += 1
            said = one_line(failure)
            if said not in self._failures and len(self._failures) < _MOST_SAID:
                self._failures.add(said)
                self._say(f"steering: a prediction failed: {said}")
        self._ask_next()
        return True

    def _give_up(self, child: ChildConnection) -> None:
        child.end(f"predictor took longer than {self._patience:g} s")


def _begin(system: System, work: str, options: bytes) -> tuple[Any, ...]:
    """Return what a process is told first."""
    origin = system.origin
    if not isinstance(origin, SystemOrigin) or not origin.target:
        raise UsageError(
            f"nothing can predict for {system.name}: it has no target by which another "
            "process could load it",
            remedy="deploy what a target names, as 'worldline run lock.py' does, or use "
            "the mode check, which predicts nothing",
        )
    if os.name != "posix":
        raise UsageError(
            "no predictor runs on this machine",
            remedy="use the mode check, which predicts nothing",
        )
    same = [origin.source.encode(), Codec(system).digest.raw]
    return origin.target, dict(origin.parameters), same, work, options


async def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a process that we have started, whatever it is doing, and forget it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    while process.poll() is None:
        try:
            await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError:
            process.wait()  # it was killed: that takes no time to speak of
            raise
