"""A client of the lock server: threads that share its locks and its sockets.

The threads are state machines. That one goes on is an event: at once if its request
was answered, and when the scheduler comes to it if it was woken from a wait.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import worldline as wl
from worldline.zoo.lockserver.messages import (
    Acquire,
    Denied,
    Granted,
    Mode,
    Release,
    Released,
    Returned,
    Revoke,
)

USE = 0.05
"""Seconds that a thread uses a lock, on average."""

SPREAD = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8)
"""By what an average time is multiplied."""

SWITCH, CONTINUE = 1e-3, 5e-4
"""Seconds until a thread runs that was woken, and one whose request was answered."""

LUCK = 0.001
"""How likely it is that a revoking thread, once woken, runs before any other."""


class Stage(Enum):
    """What a thread is at.

    Attributes
    ----------
    RESTING
        It wants no lock.
    WAITING
        For its lock, which other threads of the client use, ask for or give away.
    RETRYING
        Its release was denied, and it is about to try again.
    RELEASING, ACQUIRING
        It releases its lock, or acquires it: it waits for a socket, or for the answer.
    USING
        It has its lock.
    """

    RESTING = "resting"
    WAITING = "waiting"
    RETRYING = "retrying"
    RELEASING = "releasing"
    ACQUIRING = "acquiring"
    USING = "using"


@dataclass(frozen=True)
class Thread:
    """One thread.

    Attributes
    ----------
    lock, mode
        Which lock it wants or has, and how.
    connected
        Whether it has a socket, on which it waits for an answer.
    """

    stage: Stage = Stage.RESTING
    lock: int = 0
    mode: Mode = Mode.SHARED
    connected: bool = False


@wl.node
class Client:
    """A client, which keeps a lock that it was granted until it has to give it back.

    Attributes
    ----------
    server
        Where the locks are.
    locks
        How many there are; they are numbers from 0 on.
    sockets
        How many locks it may be acquiring at once, and how many releasing; with the bug
        ``wids2``, how many both.
    rest
        Seconds for which a thread wants no lock, on average.
    threads
        By their numbers.
    cached
        The locks that it holds.
    transactions
        Which thread acquires or releases a lock.
    releasepending
        Locks that are being released.
    revoking
        Locks that the server wants back: each has a revoking thread, which waits until
        nobody uses the lock or releases it.
    """

    server: wl.NodeId
    locks: int
    sockets: int
    rest: float
    bugs: frozenset[str]
    threads: dict[int, Thread]
    cached: dict[int, Mode] = wl.field(default_factory=dict)
    transactions: dict[int, int] = wl.field(default_factory=dict)
    releasepending: set[int] = wl.field(default_factory=set)
    revoking: set[int] = wl.field(default_factory=set)

    # ------------------------------------------------------------------ a thread's loop

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        """Let the threads of all clients begin one after the other."""
        rank = ctx.nodes.index(ctx.me) / len(ctx.nodes)
        for number in self.threads:
            first = self.rest * (number - 1 + rank) / len(self.threads)
            ctx.set_timer(Client.want, number, after=first)

    @wl.timer
    def want(self, ctx: wl.Context, number: int) -> None:
        lock, mode = ctx.random(self.locks), ctx.choose(list(Mode))
        self.threads[number] = Thread(Stage.WAITING, lock, mode)
        self.enter(ctx, number)

    @wl.timer
    def go_on(self, ctx: wl.Context, number: int) -> None:
        """Let a thread look again whether it still has to wait."""
        thread = self.threads[number]
        if thread.stage in (Stage.WAITING, Stage.RETRYING):
            self.enter(ctx, number)
        elif thread.stage in (Stage.ACQUIRING, Stage.RELEASING):
            self.connect(ctx, number)

    @wl.timer
    def finish(self, ctx: wl.Context, number: int) -> None:
        lock = self.threads[number].lock
        self.threads[number] = Thread()
        ctx.set_timer(Client.want, number, after=self.rest * ctx.choose(SPREAD))
        self.wake(ctx, lock)

    def enter(self, ctx: wl.Context, number: int) -> None:
        """Use the lock, wait for other threads, or ask the server.

        To have exclusively what it shares, the client has to release it first.
        """
        thread = self.threads[number]
        lock, held = thread.lock, self.cached.get(thread.lock)
        if self.must_wait(thread):
            self.become(number, Stage.WAITING)
        elif held in (Mode.EXCLUSIVE, thread.mode):
            self.use(ctx, number)
        else:
            self.transactions[lock] = number
            if held is None:
                self.become(number, Stage.ACQUIRING)
            else:
                self.releasepending.add(lock)
                self.become(number, Stage.RELEASING)
            self.connect(ctx, number)

    def use(self, ctx: wl.Context, number: int) -> None:
        self.become(number, Stage.USING)
        ctx.set_timer(Client.finish, number, after=USE * ctx.choose(SPREAD))

    def must_wait(self, thread: Thread) -> bool:
        """Say whether other threads of the client keep one from its lock."""
        if thread.lock in self.transactions:
            return True
        if thread.lock in self.revoking and thread.stage is not Stage.RETRYING:
            return True
        users = self.users(thread.lock)
        return bool(users) and Mode.EXCLUSIVE in (thread.mode, *users)

    # --------------------------------------------------------------------- the server

    def connect(self, ctx: wl.Context, number: int) -> None:
        """Send a thread's request, if there is a socket for it."""
        thread = self.threads[number]
        if thread.connected or not self.has_socket(thread.stage):
            return
        self.threads[number] = replace(thread, connected=True)
        if thread.stage is Stage.ACQUIRING:
            ctx.send(self.server, Acquire(thread.lock, thread.mode))
        else:
            ctx.send(self.server, Release(thread.lock))

    def has_socket(self, stage: Stage) -> bool:
        """Say whether there is a free socket for what a thread is at."""
        taken = [t.stage for t in self.threads.values() if t.connected]
        if "wids2" in self.bugs:
            return len(taken) < self.sockets
        return taken.count(stage) < self.sockets

    @wl.on(Granted)
    def granted(self, ctx: wl.Context, src: wl.NodeId, msg: Granted) -> None:
        number = self.answered(ctx, msg.lock)
        del self.transactions[msg.lock]
        self.cached[msg.lock] = msg.mode
        self.use(ctx, number)
        self.wake(ctx, msg.lock)

    @wl.on(Released)
    def released(self, ctx: wl.Context, src: wl.NodeId, msg: Released) -> None:
        number = self.answered(ctx, msg.lock)
        self.releasepending.discard(msg.lock)
        del self.cached[msg.lock]
        self.become(number, Stage.ACQUIRING)
        self.connect(ctx, number)

    @wl.on(Denied)
    def denied(self, ctx: wl.Context, src: wl.NodeId, msg: Denied) -> None:
        """Try again: with the bug before the revoking thread has had its turn."""
        number = self.answered(ctx, msg.lock)
        self.releasepending.discard(msg.lock)
        del self.transactions[msg.lock]
        if "wids1" in self.bugs:
            self.become(number, Stage.RETRYING)
            ctx.set_timer(Client.go_on, number, after=CONTINUE)
        else:
            self.become(number, Stage.WAITING)
        self.wake(ctx, msg.lock)

    def answered(self, ctx: wl.Context, lock: int) -> int:
        """Return whose request was answered, and wake those who wait for its socket."""
        number = self.transactions[lock]
        self.threads[number] = replace(self.threads[number], connected=False)
        for other, thread in self.threads.items():
            has_request = thread.stage in (Stage.ACQUIRING, Stage.RELEASING)
            if has_request and not thread.connected and other != number:
                ctx.set_timer(Client.go_on, other, after=SWITCH)
        return number

    # ----------------------------------------------------------------- revoking threads

    @wl.on(Revoke)
    def revoke(self, ctx: wl.Context, src: wl.NodeId, msg: Revoke) -> None:
        self.revoking.add(msg.lock)
        ctx.set_timer(Client.give_back, msg.lock, after=SWITCH)

    @wl.timer
    def give_back(self, ctx: wl.Context, lock: int) -> None:
        """Give a lock back, unless the revoking thread has to wait; it will be woken."""
        if lock in self.releasepending or self.users(lock):
            return
        self.revoking.discard(lock)
        del self.cached[lock]
        ctx.send(self.server, Returned(lock))
        self.wake(ctx, lock)

    # ------------------------------------------------------------------- between threads

    def wake(self, ctx: wl.Context, lock: int) -> None:
        """Wake the threads that wait for a lock, and the one that revokes it."""
        if lock in self.revoking:
            late = ctx.choose((False, True), weights=(LUCK, 1 - LUCK))
            ctx.set_timer(Client.give_back, lock, after=SWITCH if late else 0.0)
        for number, thread in self.threads.items():
            if thread.stage is Stage.WAITING and thread.lock == lock:
                ctx.set_timer(Client.go_on, number, after=SWITCH)

    def users(self, lock: int) -> list[Mode]:
        """Return how each thread that has a lock has it."""
        return [
            thread.mode
            for thread in self.threads.values()
            if thread.stage is Stage.USING and thread.lock == lock
        ]

    def become(self, number: int, stage: Stage) -> None:
        self.threads[number] = replace(self.threads[number], stage=stage)
