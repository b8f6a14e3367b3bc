"""The process of one node, life after life, as its supervisor has it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

from worldline.deploy.asked import ToldBeside, told_together
from worldline.deploy.counts import NodeCounts
from worldline.deploy.running.channel import GRACE_S, QUIET_S, WATCHED, spelt
from worldline.deploy.running.pid_file import write_pid
from worldline.deploy.running.report import counts_of, in_all
from worldline.loading.processes import environment, python_of
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError

_LONGEST_LINE = 16 << 20

_LOOK_S = 0.5
"""Seconds between two looks whether a process has ended."""

_LAST_S = 1.0
"""For how long what a process said last may be under way."""


@final
class NodeProcess:
    """The processes of a node, one at a time.

    Parameters
    ----------
    words
        What follows ``worldline`` on the command line.
    watched
        Which node it is, and of which run; see `channel.WATCHED`.
    say
        Takes a line for whoever watches.
    failed
        Takes what keeps a life from going on.
    pid
        The file that has the number of the process, as long as there is one.
    left
        A file that a life leaves behind if it is killed; None for none.

    Attributes
    ----------
    positions
        Where its scripts stand that go on over several lives.
    """

    def __init__(
        self,
        node: NodeId,
        scripts: int,
        words: Sequence[str],
        watched: str,
        *,
        say: Callable[[str], None],
        failed: Callable[[Exception], None],
        pid: Path | None = None,
        left: Path | None = None,
    ) -> None:
        self.node, self.positions = node, [0] * scripts
        self._words, self._watched = words, watched
        self._say, self._failed, self._pid, self._left = say, failed, pid, left
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._bound: asyncio.Future[None] | None = None
        self._has_begun = self._is_killed = self._is_ending = False
        self._is_refused = False
        self._quiet = asyncio.Event()
        self._before: list[NodeCounts] = []
        self._told: list[ToldBeside] = []
        self._now = NodeCounts(node=node.name)

    @property
    def is_up(self) -> bool:
        """Whether a life has begun that nobody has ended."""
        return self._has_begun and not (self._is_killed or self._is_ending)

    @property
    def counts(self) -> NodeCounts:
        """The counts of all its lives."""
        return in_all(self.node.name, [*self._before, self._now])

    @property
    def told(self) -> ToldBeside:
        """What was told beside it, in all its lives."""
        return told_together(self._told)

    async def bind(self) -> None:
        """Start the process of the next life; return when the node could begin.

        Raises
        ------
        UsageError
            If it cannot.
        """
        await self.over()
        self._before.append(self._now)
        self._told.append({})
        self._now = NodeCounts(node=self.node.name)
        self._has_begun = self._is_killed = self._is_refused = False
        self._bound = asyncio.get_running_loop().create_future()
        self._process = await asyncio.create_subprocess_exec(
            *python_of("worldline"),
            *self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(**{WATCHED: self._watched}),
            limit=_LONGEST_LINE,
            **_apart(),
        )
        if self._pid is not None:
            with contextlib.suppress(OSError):  # the run can do without
                write_pid(self._pid, self._process.pid)
        self._watching = asyncio.ensure_future(self._watch(self._process))
        await asyncio.shield(self._bound)

    def begin(self, links: dict[str, Any]) -> None:
        """Let the life begin that is bound."""
        self.send(begin={"links": links, "positions": self.positions})
        # Somebody may have killed it while others were starting.
        self._has_begun = self._watching is None or not self._watching.done()

    def send(self, **line: Any) -> None:
        """Send a line, if there is anybody to read it."""
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            return
        if not process.stdin.is_closing():
            process.stdin.write(spelt(line))

    def kill(self) -> None:
        """End the process at once, as weather does."""
        self._is_killed = True
        self._signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)

    def tidy(self) -> None:
        """Remove the files that lead to a process that has ended, or was killed."""
        for file in (self._left, self._pid):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.unlink(missing_ok=True)

    async def hush(self) -> None:
        """Have nothing happen to the node any more; wait a moment until that is so."""
        if not self.is_up:
            return
        self.send(over=True)
        waiting = [self._quiet.wait(), self.over()]
        tasks = [asyncio.ensure_future(one) for one in waiting]
        await asyncio.wait(tasks, timeout=QUIET_S, return_when=asyncio.FIRST_COMPLETED)
        for one in tasks:
            one.cancel()

    async def end(self) -> None:
        """Ask the process to end; after a while, end it."""
        self._is_ending = True
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(asyncio.shield(self.over()), GRACE_S)
        except TimeoutError:
            self.kill()
            await self.over()
            self._now.failure = f"it did not stop within {GRACE_S:g} s"

    async def over(self) -> None:
        """Wait until the process has ended, and all that it said is taken."""
        if self._watching is not None:
            # Whoever waits may be told to wait no more: the watch goes on for others.
            await asyncio.shield(self._watching)

    # ------------------------------------------------------------------------ inside

    def _signal(self, which: signal.Signals) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            if os.name == "posix":
                # Its own method looks first whether it has ended, and takes how from
                # the event loop, to which that is then not known.
                os.kill(process.pid, which)
            else:
                process.send_signal(which)

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        listening = asyncio.ensure_future(self._listen(process.stdout))
        try:
            while process.returncode is None and not listening.done():
                await asyncio.wait([listening], timeout=_LOOK_S)
            # What it has forked may hold its output for ever.
            await asyncio.wait([listening], timeout=_LAST_S)
            if listening.done():
                listening.result()
        finally:
            listening.cancel()
        code = process.returncode
        if code is None:
            code = await process.wait()
        process.stdin.close()
        self.tidy()
        self._has_begun = False
        is_wanted = self._is_killed or self._is_ending
        if self._bound is not None and not self._bound.done():
            self._refuse("", f"its process ended with {_how(code)}")
        elif not is_wanted and not self._has_said_why(code):
            self._now.failure = f"its process ended with {_how(code)}"
            self._say(f"{self.node}: {self._now.failure}")

    async def _listen(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            self._take(_parsed(line))

    def _has_said_why(self, code: int) -> bool:
        """Say whether it was told why a process ended as it did."""
        if code == 1:
            return self._now.failure is not None
        if code == 2:
            return self._is_refused or self._now.journal_failure is not None
        return code == 0

    def _take(self, line: dict[str, Any]) -> None:
        match line:
            case {"counts": [counts]}:
                self._now = counts_of(counts)
            case {"told": told}:
                self._told[-1] = told
            case {"position": [script, position]}:
                self.positions[script] = position
            case {"said": said}:
                self._say(said)
            case {"refused": [what, remedy]}:
                self._refuse(remedy, what)
            case {"quiet": _}:
                self._quiet.set()
            case {"bound": _} if self._bound is not None and not self._bound.done():
                self._bound.set_result(None)
            case _:
                pass

    def _refuse(self, remedy: str, what: str) -> None:
        says_who = what.startswith(f"{self.node} ")
        said = what if says_who else f"{self.node} cannot be run: {what}"
        error = UsageError(said, remedy=remedy)
        if self._bound is not None and not self._bound.done():
            self._bound.set_exception(error)
            self._bound.exception()  # perhaps nobody waits any more
        else:
            self._is_refused = True
            self._failed(error)


def _parsed(line: bytes) -> dict[str, Any]:
    """Return a line of a process; of what somebody else has printed, that it was said."""
    try:
        parsed = json.loads(line)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    return {"said": line.decode(errors="replace").rstrip()}


def _apart() -> dict[str, Any]:
    """Return what keeps Ctrl-C for the process that watches."""
    if os.name == "posix":
        return {"process_group": 0}
    return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]


def _how(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> _how(-9), _how(3)
    ('SIGKILL', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
