"""Work spread over processes: the same results in the same order on any number of them."""

# ruff: noqa: S301 -- what is read was written by a copy of this very process

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar, final

from worldline.model.usercode import interrupts
from worldline.model.usercode.divergence import watched
from worldline.shrink.forking import CAN_FORK, be_alone, fork

T = TypeVar("T")

_CHUNK = 1 << 20

_KEYS = [signal.SIGINT, *([signal.SIGUSR1] if CAN_FORK else [])]
"""What ends a piece of work: Ctrl-C, and what it is to the processes that do some."""


@final
class Spread(Generic[T]):
    """Does some numbered work, each piece in a process of its own.

    Ctrl-C ends what is being done, which then has a result as it always has; what has
    not begun is left out. A piece whose process dies is done again here, unless that was
    after Ctrl-C.

    Parameters
    ----------
    work
        Does one piece; its result can be pickled.
    processes
        How many pieces are done at once. With one, all are done here.
    done
        Is called with each result, in order.
    """

    def __init__(
        self,
        work: Callable[[int], T],
        processes: int,
        done: Callable[[int, T], None],
    ) -> None:
        self._work = work
        self._processes = processes if CAN_FORK else 1
        self._done = done
        self._begun: dict[int, tuple[int, int]] = {}
        self.interrupted = False

    def run(self, count: int) -> None:
        """Do the pieces up to a number."""
        try:
            for number in range(count):
                if self.interrupted and number not in self._begun:
                    return
                if self._processes == 1:
                    self._done(number, self._work(number))
                    continue
                self._begin(range(number, min(count, number + self._processes)))
                if number not in self._begun:
                    return
                raw = self._raw(number)
                if not raw and self.interrupted:
                    return
                self._done(number, self._result(number, raw))
        finally:
            for pid, pipe in self._begun.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(pipe)

    def stop(self) -> None:
        """Begin nothing more, and have what is being done come to an end."""
        if self.interrupted:
            return  # a second Ctrl-C would end it without a result
        self.interrupted = True
        for pid, _ in self._begun.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)

    def _begin(self, numbers: range) -> None:
        for number in numbers:
            if number not in self._begun and not self.interrupted:
                # One that was forked after Ctrl-C would take the next one, by which
                # `stop` passes it on, for the second, and end without a result.
                before = signal.pthread_sigmask(signal.SIG_BLOCK, _KEYS)
                try:
                    with interrupts.heard():
                        pass
                    self._fork(number)
                except KeyboardInterrupt:
                    self.stop()
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _fork(self, number: int) -> None:
        reads, writes = os.pipe()
        pid = fork()
        if not pid:
            self._serve(number, writes)
        os.close(writes)
        self._begun[number] = pid, reads

    def _raw(self, number: int) -> bytes:
        pid, pipe = self._begun[number]
        raw = b""
        while chunk := self._read(pipe):
            raw += chunk
        os.waitpid(pid, 0)
        os.close(pipe)
        del self._begun[number]
        return raw

    def _result(self, number: int, raw: bytes) -> T:
        try:
            result: T = pickle.loads(raw)
        except (EOFError, pickle.UnpicklingError):
            return self._work(number)
        return result

    def _read(self, pipe: int) -> bytes:
        """Read what is there; Ctrl-C ends the others, which then write what they have."""
        while True:
            try:
                with interrupts.heard():
                    select.select([pipe], [], [])
                # Not in there: what was read must not get lost.
                return os.read(pipe, _CHUNK)
            except KeyboardInterrupt:
                self.stop()

    def _serve(self, number: int, pipe: int) -> NoReturn:
        status = 1
        try:
            keys = signal.getsignal(signal.SIGINT)
            if keys is signal.SIG_IGN:  # and yet a search is ended, by SIGTERM
                keys = interrupts.take
            be_alone()
            if keys is not None:
                signal.signal(signal.SIGUSR1, keys)  # Ctrl-C, as `stop` passes it on
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _KEYS)
            with watched():
                raw = pickle.dumps(self._work(number), pickle.HIGHEST_PROTOCOL)
            with open(pipe, "wb") as file:
                file.write(raw)
            status = 0
        finally:
            os._exit(status)
