"""The lock server: who holds which lock, and who waits for it."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Request:
    """Which client wants a lock, and in which mode."""

    client: wl.NodeId
    mode: Mode


@wl.node
class Server:
    """The server, which knows of clients alone and of no threads.

    A lock is unlocked, shared by clients or one client's.

    Attributes
    ----------
    holders, modes
        Of the locks that somebody holds: which clients do, and how.
    pending
        The pending queue: for whom the holders of a lock have been asked to give it
        back, and have not all done so.
    waiting
        Requests for locks in the pending queue, in the order in which they came.
    """

    holders: dict[int, set[wl.NodeId]] = wl.field(default_factory=dict)
    modes: dict[int, Mode] = wl.field(default_factory=dict)
    pending: dict[int, Request] = wl.field(default_factory=dict)
    waiting: dict[int, tuple[Request, ...]] = wl.field(default_factory=dict)

    @wl.on(Acquire)
    def acquire(self, ctx: wl.Context, src: wl.NodeId, msg: Acquire) -> None:
        request = Request(src, msg.mode)
        if msg.lock in self.pending:
            self.waiting[msg.lock] = (*self.waiting.get(msg.lock, ()), request)
        else:
            self.serve(ctx, msg.lock, request)

    @wl.on(Release)
    def release(self, ctx: wl.Context, src: wl.NodeId, msg: Release) -> None:
        if msg.lock in self.pending:
            ctx.send(src, Denied(msg.lock))
        else:
            self.drop(src, msg.lock)
            ctx.send(src, Released(msg.lock))

    @wl.on(Returned)
    def returned(self, ctx: wl.Context, src: wl.NodeId, msg: Returned) -> None:
        lock = msg.lock
        self.drop(src, lock)
        if lock in self.holders:
            return
        self.grant(ctx, lock, self.pending.pop(lock))
        while lock not in self.pending and lock in self.waiting:
            first, *others = self.waiting.pop(lock)
            if others:
                self.waiting[lock] = tuple(others)
            self.serve(ctx, lock, first)

    def serve(self, ctx: wl.Context, lock: int, request: Request) -> None:
        """Grant a lock, or have those who hold it otherwise give it back first."""
        shared = self.modes.get(lock) is Mode.SHARED is request.mode
        if shared or lock not in self.holders:
            self.grant(ctx, lock, request)
        else:
            self.pending[lock] = request
            for holder in self.holders[lock]:
                ctx.send(holder, Revoke(lock))

    def grant(self, ctx: wl.Context, lock: int, request: Request) -> None:
        self.holders.setdefault(lock, set()).add(request.client)
        self.modes[lock] = request.mode
        ctx.send(request.client, Granted(lock, request.mode))

    def drop(self, client: wl.NodeId, lock: int) -> None:
        self.holders[lock].discard(client)
        if not self.holders[lock]:
            del self.holders[lock], self.modes[lock]
