"""A deployed node without sockets: it is given turns of messages, and what it sends is dropped.

All else is as in a host: the messages come as packets that were decoded, each runs its handler,
and the turn is written down, if there is a journal, before anything would leave.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import final

import worldline as wl
from worldline.deploy.clock import anchored
from worldline.deploy.journal import JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.outlets import LinkLimits
from worldline.deploy.recovery import Restored
from worldline.deploy.runner import NodeRunner, Setup
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH, MessageFrame

Messages = list[tuple[bytes, MessageFrame]]


class _Unplanned:
    """A loop that plans no end of a turn: who drives a node ends each by hand."""

    def call_soon(self, *planned: object) -> None:
        pass


@final
class Driven:
    """A node that is driven by hand; to be made where a loop runs, and closed there.

    Parameters
    ----------
    record
        The folder for its journal; None for none.
    """

    def __init__(
        self, system: wl.System, node: wl.NodeId, record: Path | None = None
    ) -> None:
        self._system = system.under_recording()
        self._codec = codec = Codec(self._system)
        options = JournalOptions(run=secrets.token_hex(4), sync="never")
        restored = Restored(incarnation=1, lamport=0, counter=0, durable=None)
        self.journal: JournalWriter | None = None
        if record is not None:
            self.journal, restored = JournalWriter.open(
                record, self._system, codec, node, options
            )
        setup = Setup(
            system=self._system,
            codec=codec,
            addresses=[("127.0.0.1", 0) for _ in system.ids],
            record=record,
            every=None,
            journal=options,
            now=anchored(),
            weather=None,
            seal=None,
            tls=None,
            limits=LinkLimits(),
            companions=(),
            positions=lambda node: (),
            returns=False,
            say=lambda line: None,
            stopped=lambda node, error: None,
        )
        self._runner = runner = NodeRunner(setup, node)
        runner._present = present = runner._make(restored, self.journal)
        runner.begin()
        present.turn._loop = _Unplanned()  # type: ignore[assignment]
        self.receive, self.end = present.life.receive, present.turn.end
        self.node = present.life.node

    def messages(
        self, src: wl.NodeId, made: Sequence[object], first: int = 1
    ) -> Messages:
        """Return messages as they would come in, one from each event of their sender.

        Parameters
        ----------
        first
            The Lamport time of the first of these events.
        """
        sender, codec = self._system.index[src], self._codec
        packets = [
            codec.packet(sender, 1, number, 0, "", one)
            for number, one in enumerate(made, first)
        ]
        decoded = []
        for packet in packets:
            frame = codec.frame(packet[LENGTH:])
            assert type(frame) is MessageFrame
            decoded.append((packet, frame))
        return decoded

    def close(self) -> None:
        """End its life."""
        self._runner.crash()
