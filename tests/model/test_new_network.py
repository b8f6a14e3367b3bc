"""A network of one's own, as `docs/contributing.md` says: the last message comes first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import pytest
from tests.worlds.driving import Driven

import worldline as wl
from worldline.debug.state import node_state
from worldline.model.data.content import TUPLE, Frozen
from worldline.model.data.identity import BY_DECLARATION
from worldline.model.network import Capability
from worldline.model.network.datagrams import envelope_operations, incoming
from worldline.model.network.mailbox import MailOperation, Unconnected, mailbox
from worldline.model.symmetry.renaming import renamed
from worldline.show.steps import steps
from worldline.trace.format import read


@final
@dataclass(frozen=True, slots=True)
class Lifo:
    """Of what a node sent to another, only the newest can arrive or be lost."""

    loss: bool = False
    name: str = "lifo"
    buffer: None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        lossy = {Capability.DROP} if self.loss else set()
        return frozenset({Capability.ORDERED, Capability.LOST_WHEN_DOWN, *lossy})

    def mailbox(self, node: wl.NodeId, nodes: tuple[wl.NodeId, ...]) -> Stacks:
        return Stacks(node)

    def operations(
        self, event: wl.Event, nodes: tuple[wl.NodeId, ...]
    ) -> list[MailOperation]:
        return envelope_operations(event)


@final
@mailbox(unordered=True)
class Stacks(Unconnected):
    """A mailbox with one stack for each sender."""

    def __init__(self, node: wl.NodeId) -> None:
        self.node = node
        self.stacks: dict[wl.NodeId, list[wl.Envelope]] = {}

    def put(self, envelope: wl.Envelope) -> None:
        self.stacks.setdefault(envelope.src, []).append(envelope)

    def take(self, envelope: wl.Envelope) -> None:
        assert self.stacks[envelope.src].pop() == envelope

    def forget(self, peer: wl.NodeId) -> None:
        self.stacks.pop(peer, None)

    def is_ready(self, envelope: wl.Envelope) -> bool:
        return envelope in self.losable()

    def holds(self, src: wl.NodeId) -> int:
        return len(self.stacks.get(src, ()))

    def envelopes(self) -> Iterator[wl.Envelope]:
        for src in sorted(self.stacks, key=BY_DECLARATION):
            yield from self.stacks[src]

    def arrivals(self, *, up: bool, returns: bool) -> list[wl.Event]:
        return incoming(self.node, self.losable(), up=up, returns=returns)

    def losable(self) -> list[wl.Envelope]:
        ordered = sorted(self.stacks, key=BY_DECLARATION)
        return [self.stacks[src][-1] for src in ordered if self.stacks[src]]

    def befallen(self, kind: wl.Kind) -> list[wl.Envelope]:
        return self.losable()

    def freeze(self) -> Frozen:
        ordered = sorted(self.stacks, key=BY_DECLARATION)
        held = [(TUPLE, src, *self.stacks[src]) for src in ordered if self.stacks[src]]
        return (Stacks, *held)

    def restore(self, frozen: Frozen) -> None:
        self.stacks = {item[1]: list(item[2:]) for item in frozen[1:]}


@wl.message
class Note:
    number: int


@wl.node
class Writer:
    """Writes numbers in order, and notes what comes."""

    written: int = 0
    read: tuple[int, ...] = ()

    @wl.call
    def write(self, ctx: wl.Context, to: wl.NodeId) -> None:
        self.written += 1
        ctx.send(to, Note(self.written))

    @wl.on(Note)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.read += (msg.number,)


A, B, C = wl.ids("a", "b", "c")
IDS = (A, B, C)


@wl.safety
def nobody_reads_the_first_last(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].read != (3, 2, 1))


def writers(network: Any, *, both: bool = False, **options: Any) -> wl.System:
    calls = [wl.invoke(Writer.write, C)] * 3
    return wl.System(
        dict.fromkeys(IDS, Writer()),
        network=network,
        workload=[wl.script(node, calls) for node in IDS[: 1 + both]],
        properties=[nobody_reads_the_first_last],
        name="writers",
        **options,
    )


def pushes_and_pops() -> int:
    """The states of three pushes and pops by one node, counted by themselves."""
    seen, ahead = set(), [(0, (), ())]
    while ahead:
        state: Any = ahead.pop()
        if state in seen:
            continue
        seen.add(state)
        pushed, stack, popped = state
        if pushed < 3:
            ahead.append((pushed + 1, (*stack, pushed + 1), popped))
        if stack:
            ahead.append((pushed, stack[:-1], (*popped, stack[-1])))
    return len(seen)


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_the_newest_message_comes_first_in_both_engines(engine: Any, tmp_path: Path):
    report = wl.check(
        writers(Lifo()), engine=engine, keep_going=True, out=tmp_path / "trace.wl"
    )
    assert report.states == pushes_and_pops()
    failed = report.expect_violated("nobody_reads_the_first_last")
    assert failed.steps == 6
    assert failed.trace is not None
    assert wl.replay(failed.trace, system=writers(Lifo())).reproduced
    text = "\n".join(steps(read(failed.trace)))
    assert "lifo(loss=False, buffer=None)" in text
    assert text.index("Note(number=3) from a") < text.index("Note(number=2) from a")


def test_its_faults_nodes_that_are_down_and_partitions_are_those_of_the_model():
    faults = wl.Faults(drops=1, crashes=1, restarts=1, partitions=1, nodes=(C,))
    found = set()
    for engine in ("python", "auto"):
        made = writers(Lifo(loss=True), faults=faults)
        report = wl.check(made, engine=engine, traces=False, keep_going=True)
        found.add((report.states, report.generated, report.depth))
    assert len(found) == 1
    driven = Driven(writers(Lifo(loss=True), faults=faults))
    for pattern in [wl.events.call(A, Writer.write)] * 2 + [wl.events.crash(C)]:
        driven.do(pattern)
    driven.do(wl.events.refuse(C, A))
    assert driven.messages(C) == [Note(1)]
    with pytest.raises(wl.ModelError, match="cannot happen on lifo"):
        writers(Lifo(), faults=wl.Faults(drops=1))


def test_it_carries_some_messages_beside_other_networks():
    beside = wl.networks({Note: Lifo()}, otherwise=wl.streams())
    for network in (Lifo(), beside):
        report = wl.check(writers(network), traces=False, keep_going=True)
        assert report.states == pushes_and_pops()


@pytest.mark.slow
def test_it_is_symmetric_and_random_runs_and_the_debugger_take_it():
    def made() -> wl.System:
        return writers(Lifo(), both=True, symmetry=[wl.symmetric([A, B])])

    whole = wl.check(made(), traces=False, keep_going=True, symmetry=False)
    found = {
        wl.check(made(), traces=False, keep_going=True, engine=engine).states
        for engine in ("python", "auto")
    }
    # Where a and b do the same, a state is its own image.
    (orbits,) = found
    assert orbits < whole.states < 2 * orbits
    walked = wl.walk(made(), walks=200, traces=False)
    assert walked.verdict is wl.Verdict.VIOLATED
    driven = Driven(made())
    driven.do(wl.events.call(A, Writer.write))
    assert node_state(driven.world, 2).owns["(inbox)"] == ["Note(number=1) from a"]


def test_its_mailboxes_are_canonical_again_when_nodes_are_renamed():
    box, other = Stacks(C), Stacks(C)
    swap = {A: B, B: A}
    for src, number in itertools.product((A, B), (1, 2)):
        for mail, sender in ((box, src), (other, swap[src])):
            frozen = (Note, number + (src == A))
            mail.put(wl.Envelope(sender, "", Note(number + (src == A)), frozen))
    assert renamed(box.freeze(), swap) == other.freeze() != box.freeze()


def test_a_mailbox_that_is_not_declared_is_refused():
    class Undeclared(Unconnected):
        pass

    class Silent:
        name, capabilities, buffer = "silent", frozenset[Capability](), None

        def mailbox(self, node: Any, nodes: Any) -> Undeclared:
            return Undeclared()

    with pytest.raises(wl.ModelError, match="mailbox of silent, is not declared"):
        writers(Silent())
