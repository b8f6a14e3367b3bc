"""One node of a host over its lives: its journal, its sockets, and how lives end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, final

from worldline.deploy.clock import HostClock
from worldline.deploy.cluster import address_text
from worldline.deploy.counts import NodeCounts
from worldline.deploy.datagrams import DatagramSocket
from worldline.deploy.journal import JournalFailure, JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.keeping import stopped
from worldline.deploy.life import NodeLife
from worldline.deploy.links import Links
from worldline.deploy.outlets import LinkLimits, Messages, Outlets, TlsContexts
from worldline.deploy.recovery import Restored
from worldline.deploy.seal import Seal
from worldline.deploy.turn import Leaving, PresentTurn
from worldline.deploy.weather import LinkWeather
from worldline.deploy.wire import Wire, is_of_streams
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, UsageError
from worldline.model.network import members_of
from worldline.model.semantics.execute import Failure
from worldline.model.system import System
from worldline.trace.journal.codec import Codec
from worldline.worlds.companions import Companion

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
"""Before a node whose handler failed comes back, where it does; doubled each time."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all nodes of a host have in common.

    Attributes
    ----------
    addresses
        Where each node listens, by index; filled in where a node has bound a port.
    record
        The folder of the recording; None for none.
    every
        Seconds after which a checkpoint is written, once something happens; None for none
        but at the beginning of a segment.
    returns
        Whether a node whose handler failed comes back.
    positions
        Says where the scripts of a node stand, for companions.
    stopped
        Is told of a node that has stopped for good, and of the error if it is Worldline's.
    """

    system: System
    codec: Codec
    addresses: list[tuple[str, int]]
    record: Path | None
    journal: JournalOptions
    now: HostClock
    weather: LinkWeather | None
    seal: Seal | None
    tls: TlsContexts | None
    limits: LinkLimits
    companions: Sequence[Companion]
    positions: Callable[[NodeId], Sequence[int]]
    every: float | None
    returns: bool
    say: Callable[[str], None]
    stopped: Callable[[NodeId, BaseException | None], None]


class _Present(NamedTuple):
    """The present life of a node, and what it needs."""

    life: NodeLife
    turn: PresentTurn
    wire: Wire
    journal: JournalWriter | None


@final
class NodeRunner:
    """The runner of one node.

    Attributes
    ----------
    counts
        Of all its lives here.
    """

    def __init__(self, setup: Setup, node: NodeId) -> None:
        self._setup, self._node = setup, node
        self._index = setup.system.index[node]
        self._memory = Restored(incarnation=1, lamport=0, counter=0, durable=None)
        self._loop = asyncio.get_running_loop()
        self._present: _Present | None = None
        self._pause = _FIRST_PAUSE_S
        self._coming: asyncio.Task[None] | None = None
        self._bytes_before = self._unrecorded_before = 0
        self._is_leaving = False
        self._has_no_checkpoint = False
        self.counts = NodeCounts(node=node.name)

    @property
    def life(self) -> NodeLife | None:
        """The present life; None where the node is down."""
        return None if self._present is None else self._present.life

    @property
    def is_up(self) -> bool:
        """Whether it takes events."""
        return self.life is not None and self.life.is_up

    @property
    def is_coming(self) -> bool:
        """Whether it will come back by itself."""
        return self._coming is not None

    @property
    def journal_bytes(self) -> int:
        """The bytes of its journal, as far as they were written here."""
        journal = None if self._present is None else self._present.journal
        return self._bytes_before + (0 if journal is None else journal.bytes_written)

    @property
    def unrecorded(self) -> int:
        """The events that are in no journal, of those that happened here."""
        journal = None if self._present is None else self._present.journal
        return self._unrecorded_before + (0 if journal is None else journal.unrecorded)

    async def bind(self) -> None:
        """Prepare the next life: open the journal and the sockets; nothing is taken yet.

        Raises
        ------
        UsageError
            If another process has one of them.
        InputError
            If the journal is damaged.
        """
        setup, restored = self._setup, self._memory
        self._has_no_checkpoint = False
        journal: JournalWriter | None = None
        if setup.record is not None:
            journal, restored = JournalWriter.open(
                setup.record,
                setup.system,
                setup.codec,
                self._node,
                setup.journal,
                named=setup.say,
            )
        self.counts.incarnations = restored.incarnation
        present = self._present = self._make(restored, journal)
        try:
            self._open_sockets(present, restored.incarnation)
        except BaseException:
            self._close(None)
            raise
        self.counts.address = address_text(setup.addresses[self._index])

    def begin(self) -> None:
        """Begin the life that was prepared, if no other's start has ended them all."""
        present = self._present
        if present is None:
            return
        self._loop.call_soon(present.wire.begin)
        present.life.start()
        if present.life.is_up:
            present.turn.end()

    def crash(self) -> None:
        """End the life as the end of its process would."""
        if self._coming is not None:
            self._coming.cancel()
            self._coming = None
        self._close(None)

    def hush(self) -> None:
        """Let nothing happen any more in the life, which goes on until it is stopped."""
        if self._coming is not None:
            self._coming.cancel()
        if self._present is not None:
            self._present.life.stop()

    async def stop(self, reason: str) -> None:
        """End the life: what happened leaves first, and peers are told."""
        self._is_leaving = True
        if self._coming is not None:
            self._coming.cancel()
        present = self._present
        if present is None:
            return
        present.life.stop()
        present.turn.end()
        await present.turn.settle()
        self._close(reason)
        await present.wire.closed()

    # ------------------------------------------------------------------------ inside

    def _make(self, restored: Restored, journal: JournalWriter | None) -> _Present:
        setup, index = self._setup, self._index
        turn = PresentTurn(
            self._loop,
            journal,
            leave=self._leave,
            ended=self._turn_ended,
            failed=self._journal_failed,
        )
        wire = Wire(
            setup.system, index, self._loop, setup.codec, self._take, self.counts
        )
        life = NodeLife(
            setup.system,
            index,
            restored,
            codec=setup.codec,
            wire=wire,
            turn=turn,
            now=setup.now,
            seed=setup.journal.seed,
            positions=setup.positions,
            companions=setup.companions,
            counts=self.counts,
            ended=self._life_ended,
            say=setup.say,
        )
        return _Present(life, turn, wire, journal)

    def _open_sockets(self, present: _Present, incarnation: int) -> None:
        setup, index = self._setup, self._index
        life, turn, wire, _ = present
        outlets = Outlets(
            addresses=setup.addresses,
            take=life.receive,
            hear=life.hear,
            heard=life.beside.heard,
            say=lambda line: setup.say(f"{self._node}: {line}"),
            is_clogged=turn.is_clogged,
            weather=setup.weather,
            seal=setup.seal,
            tls=setup.tls,
            limits=setup.limits,
        )
        networks = members_of(setup.system.network)
        shared = self._loop, setup.codec, index, incarnation, self.counts, outlets
        if any(map(is_of_streams, networks)):
            sock = self._bound(socket.SOCK_STREAM)
            wire.links = Links(*shared)
            wire.links.listen(sock)
        if not all(map(is_of_streams, networks)):
            sock = self._bound(socket.SOCK_DGRAM)
            wire.socket = DatagramSocket(sock, *shared)

    def _bound(self, kind: socket.SocketKind) -> socket.socket:
        """Return a socket that is bound to the node's address; note the port."""
        host, port = self._setup.addresses[self._index]
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.socket(family, kind)
        sock.setblocking(False)
        try:
            if kind is socket.SOCK_STREAM:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
        except OSError as error:
            sock.close()
            raise UsageError(
                f"{self._node} cannot listen at {address_text((host, port))}: "
                f"{error.strerror or error}",
                remedy="end what has that address, or give the node another one",
            ) from None
        self._setup.addresses[self._index] = host, sock.getsockname()[1]
        return sock

    def _take(self, messages: Messages) -> None:
        if self.life is not None:
            self.life.receive(messages)

    def _leave(self, leaving: Leaving) -> None:
        """Let leave what a turn has brought about."""
        present = self._present
        assert present is not None, "what has not left is forgotten with the life"
        present.wire.leave(leaving)
        for answer, value in leaving.answers:
            if not answer.done():
                answer.set_result(value)
        watching = present.life.watching
        if watching is not None:
            for beside, event in leaving.seen:
                watching.seen(beside, event)
        if leaving.attention is not None:
            leaving.attention.passed()

    def _turn_ended(self) -> None:
        """Write a checkpoint, if one is due."""
        present = self._present
        if present is None or present.journal is None or self._has_no_checkpoint:
            return
        journal, every = present.journal, self._setup.every
        if not journal.needs_checkpoint and every is None:
            return
        saving = present.life.saving
        is_due = journal.needs_checkpoint or (
            every is not None and saving.since >= every
        )
        if is_due and (saving.is_cheap or journal.is_overfull):
            try:
                journal.checkpoint(saving.packed())
            except ModelError as error:
                self._has_no_checkpoint = True
                self._setup.say(f"{self._node}: no checkpoint can be written: {error}")

    def _journal_failed(self, error: Exception) -> None:
        if not isinstance(error, JournalFailure):
            self._close(None)
            self._setup.stopped(self._node, error)
            return
        self.counts.journal_failure = str(error)
        self._setup.say(str(error))
        self._close(None)
        self._setup.stopped(self._node, None)

    def _life_ended(self, why: Failure | BaseException) -> None:
        """Take note that a handler failed, or used its context wrongly."""
        if self._present is not None:
            self._present.turn.end()  # what happened before it leaves, and it is written down
        self._close(None)
        if not isinstance(why, Failure):
            self._setup.stopped(self._node, why)
            return
        said = f"a handler of {self._node} failed: {why}"
        if self.counts.failure is None:
            self._setup.say(said)
        self.counts.failure = str(why)
        if self._setup.returns and not self._is_leaving:
            self._coming = self._loop.create_task(self._come_back())
        else:
            self._setup.stopped(self._node, None)

    async def _come_back(self) -> None:
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE_S)
        await asyncio.sleep(pause)
        try:
            await self.bind()
        except Exception as error:
            self._setup.stopped(self._node, error)
            return
        self._coming = None
        self.begin()

    def _close(self, reason: str | None) -> None:
        """Close sockets and journal; with a reason, peers are told and it is written down."""
        present, self._present = self._present, None
        if present is None:
            return
        life, turn, wire, journal = present
        turn.stop(stopped(self._node))
        life.stop()
        self._memory = life.after()
        try:
            if journal is not None:
                # Before a peer can hear of it, so that its error comes later by the clock.
                journal.close(reason)
                self._bytes_before += journal.bytes_written
                self._unrecorded_before += journal.unrecorded
        finally:
            wire.close(bye=reason is not None)
