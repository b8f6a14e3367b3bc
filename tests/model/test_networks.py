"""Several networks at once: which of them carries a message, and what befalls it there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.systems import Data, Hello, stack
from tests.worlds.driving import Driven

import worldline as wl
from worldline.debug.state import node_state
from worldline.runs.recorder import header_of
from worldline.search.walks.weights import describer
from worldline.show.steps import steps
from worldline.trace.format import read

A, B = wl.ids("a", "b")


@wl.message
class Ping:
    number: int


@wl.message
class Join:
    number: int


@wl.message
class Leave:
    number: int


@wl.message
class Beat:
    number: int


@wl.node
class Heart:
    """A part that sends by itself."""

    heard: int = 0

    def beat(self, ctx: wl.Context, to: wl.NodeId) -> None:
        ctx.send(to, Beat(1))

    @wl.on(Beat)
    def beaten(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None:
        self.heard += msg.number


@wl.ignores(Leave)
@wl.node
class Member:
    """Sends one message of each class, and what it is told to."""

    heart: Heart = wl.part()
    got: tuple[str, ...] = ()
    taken: tuple[bool, ...] = ()
    errors: int = wl.durable(default=0)

    @wl.call
    def greet(self, ctx: wl.Context, to: wl.NodeId) -> None:
        for message in (Ping(1), Join(1), Leave(1)):
            self.taken += (ctx.send(to, message),)
        self.heart.beat(ctx.part("heart"), to)

    @wl.call
    def join(self, ctx: wl.Context, to: wl.NodeId) -> None:
        self.taken += (ctx.send(to, Join(2)),)

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.got += ("ping",)

    @wl.on(Join)
    def joined(self, ctx: wl.Context, src: wl.NodeId, msg: Join) -> None:
        self.got += (f"join {msg.number}",)

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1


@wl.safety
def nobody_is_told_of_errors(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].errors == 0)


def system(carried: Any, otherwise: Any = None, **options: Any) -> wl.System:
    otherwise = wl.datagrams() if otherwise is None else otherwise
    calls = [wl.invoke(Member.greet, B), wl.invoke(Member.join, B)]
    return wl.System(
        {A: Member(heart=Heart()), B: Member(heart=Heart())},
        network=wl.networks(carried, otherwise=otherwise),
        workload=[wl.script(A, calls)],
        properties=[nobody_is_told_of_errors],
        name="members",
        **options,
    )


def greeted(carried: Any, otherwise: Any = None, **options: Any) -> Driven:
    """The system after a has sent one message of each class to b."""
    driven = Driven(system(carried, otherwise, **options))
    driven.do(wl.events.call(A, Member.greet))
    return driven


def befallen(driven: Driven, kind: str) -> list[str]:
    """The classes of the messages that an event of a kind can befall."""
    return [e.name for e in driven.world.enabled() if e.kind.value == kind]


FAULTS = wl.Faults(drops=1, duplicates=1)
TCP = {(Join, Leave): wl.streams(buffer=2)}


def test_only_what_datagrams_carry_is_dropped_or_doubled():
    driven = greeted(TCP, faults=FAULTS)
    assert befallen(driven, "deliver") == ["Join", "Ping", "Beat"]
    assert befallen(driven, "drop") == ["Ping", "Beat"]
    assert befallen(driven, "duplicate") == ["Ping", "Beat"]


def test_each_network_has_the_faults_that_it_was_declared_with():
    lossy, doubling = wl.datagrams(duplication=False), wl.datagrams(loss=False)
    driven = greeted({Ping: lossy, "heart": doubling}, wl.streams(), faults=FAULTS)
    assert befallen(driven, "drop") == ["Ping"]
    assert befallen(driven, "duplicate") == ["Beat"]


def test_a_part_is_named_by_its_path_and_the_node_itself_by_none():
    for carried, otherwise in (
        ({"heart": wl.datagrams()}, wl.streams()),
        ({"": wl.streams()}, wl.datagrams()),
    ):
        driven = greeted(carried, otherwise, faults=FAULTS)
        assert befallen(driven, "drop") == ["Beat"]


def test_what_shares_a_network_keeps_its_order_and_what_does_not_need_not():
    queues = wl.datagrams(reordering=False)
    together = greeted({(Ping, Join): queues}, wl.datagrams())
    assert befallen(together, "deliver") == ["Ping", "Leave", "Beat"]
    apart = greeted({Ping: queues, Join: queues}, wl.datagrams())
    assert befallen(apart, "deliver") == ["Ping", "Join", "Leave", "Beat"]


def test_only_a_full_stream_refuses_what_is_sent():
    driven = greeted({Join: wl.streams(buffer=1)})
    assert driven[A].taken == (True, True, True)
    driven.do(wl.events.call(A, Member.join))
    assert driven[A].taken[3:] == (False,)


def test_a_reset_breaks_connections_and_leaves_datagrams_alone():
    driven = greeted({Join: wl.streams()}, faults=wl.Faults(resets=1))
    driven.do(wl.events.deliver(B, Join))
    driven.do(wl.events.reset(A))
    assert befallen(driven, "deliver") == ["Leave", "Ping", "Beat"]
    assert befallen(driven, "transport_error") == ["lost"]


def test_a_connection_error_takes_only_what_the_connection_carries():
    driven = greeted(TCP, faults=wl.Faults(connection_errors=1))
    driven.do(wl.events.deliver(B, Join))
    driven.do(wl.events.disconnect(A, B))
    driven.do(wl.events.transport_error(B, A))
    driven.do(wl.events.transport_error(A, B))
    assert driven.messages(B) == [Ping(1), Beat(1)]


def test_a_partition_holds_what_every_network_carries():
    driven = greeted(TCP, faults=wl.Faults(partitions=1))
    driven.world.step(wl.Event(wl.Kind.PARTITION, payload=0))
    assert befallen(driven, "deliver") == []
    driven.world.step(wl.Event(wl.Kind.HEAL))
    assert befallen(driven, "deliver") == ["Join", "Ping", "Beat"]


def test_at_a_node_that_is_down_datagrams_are_lost_and_a_stream_says_so():
    driven = greeted({Join: wl.streams()}, faults=wl.Faults(crashes=1, restarts=1))
    driven.do(wl.events.crash(B))
    assert befallen(driven, "refuse") == ["Leave", "Ping", "Beat"]
    assert befallen(driven, "transport_error") == ["unreachable"]
    driven.do(wl.events.transport_error(A, B))
    assert driven[A].errors == 1


def test_what_a_message_set_carries_stays_and_the_rest_does_not():
    driven = greeted({"": wl.message_set()}, wl.datagrams())
    assert driven.system.unhandled == "wait"
    driven.do(wl.events.deliver(B, Ping))
    driven.do(wl.events.deliver(B, Beat))
    # An ignored message is no event where it would stay.
    assert befallen(driven, "deliver") == ["Join", "Ping"]


@pytest.mark.slow
def test_a_violation_is_found_by_both_engines_and_replays(tmp_path: Path):
    options: dict[str, Any] = {"faults": wl.Faults(crashes=1, drops=1)}
    counts = explore(Oracle(system(TCP, **options)))
    for engine in ("python", "auto"):
        report = wl.check(
            system(TCP, **options),
            engine=engine,
            keep_going=True,
            out=tmp_path / f"{engine}.wl",
        )
        found = (report.states, report.generated, report.depth)
        assert found == (counts.distinct, counts.generated, counts.depth)
        failed = report.expect_violated("nobody_is_told_of_errors")
        assert failed.steps == 3
        assert failed.trace is not None
        assert wl.replay(failed.trace, system=system(TCP, **options)).reproduced
    text = "\n".join(steps(read(tmp_path / "python.wl")))
    assert (
        "networks(Join, Leave=streams(buffer=2), otherwise=datagrams(loss=True, "
        "duplication=True, reordering=True, buffer=None))"
    ) in text


def test_random_runs_and_fuzzing_take_several_networks(tmp_path: Path):
    for verb in (wl.walk, wl.fuzz):
        report: Any = verb(
            system(TCP, faults=wl.Faults(crashes=1)), walks=50, out=tmp_path / "run.wl"
        )
        assert report.expect_violated("nobody_is_told_of_errors").trace is not None


def test_the_header_of_a_trace_says_what_each_network_carries():
    header = header_of(system(TCP), engine="direct", seed=None)
    assert header.network == {
        "name": "networks",
        "Join, Leave": {"name": "streams", "buffer": 2},
        "otherwise": {
            "name": "datagrams",
            "loss": True,
            "duplication": True,
            "reordering": True,
            "buffer": None,
        },
    }


def test_the_assumptions_say_what_each_network_does():
    made = system(TCP, faults=wl.Faults(drops=1))
    assert wl.check(made, traces=False).assumptions[:2] == (
        "network streams (Join, Leave): in order, a buffer of 2",
        "network datagrams (otherwise): loss, no duplication, in any order",
    )


def test_the_debugger_lists_what_all_networks_have_under_way():
    driven = greeted(TCP)
    driven.do(wl.events.deliver(B, Join))
    owns = node_state(driven.world, 1).owns
    assert owns["(inbox)"] == [
        "Leave(number=1) from a",
        "Ping(number=1) from a",
        "Beat(number=1) from a",
    ]
    assert owns["(connections)"] == ["a: open"]


def test_messages_of_two_networks_are_two_queues_for_a_scheduler():
    driven = greeted(TCP)
    describe = describer(driven.system, lambda event: 1)
    pairs = {
        event.name: describe(event).pair
        for event in driven.world.enabled()
        if event.kind is wl.Kind.DELIVER
    }
    assert pairs["Ping"] == pairs["Beat"] != pairs["Join"]


def test_rounds_refuse_several_networks_by_name():
    with pytest.raises(wl.UsageError, match="members has several networks"):
        wl.find_faults(system(TCP), eot=4, eff=2)


UDP = wl.datagrams()

MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    (
        lambda: wl.System({A: Heart()}, network={Ping: UDP}),  # type: ignore[arg-type]
        "which is no network",
        "write network=wl.networks({...}, otherwise=...)",
    ),
    (lambda: system({}), "wl.networks({}) names no message", "wl.networks({Ping:"),
    (lambda: system({(): UDP}), "has the entry ()", "name each message class"),
    (
        lambda: system({(Ping, Ping): UDP}),
        "has the entry (Ping, Ping)",
        "name each message class and part in it once",
    ),
    (
        lambda: system({Member: UDP}),
        "names the class Member, which is no message class",
        "name classes made with @wl.message, or parts by their paths",
    ),
    (
        lambda: system({Ping: UDP, (Ping, Join): UDP}),
        "names Ping twice",
        "leave it in one of its entries",
    ),
    (
        lambda: system({Ping: wl.datagrams}),
        "has the function datagrams for Ping",
        "write wl.datagrams(), wl.streams(...) or wl.message_set()",
    ),
    (
        lambda: system({Ping: UDP}, wl.networks({Ping: UDP}, otherwise=UDP)),
        "has the Networks networks for otherwise",
        "write wl.datagrams(), wl.streams(...) or wl.message_set()",
    ),
    (
        lambda: system({Ping: wl.streams()}, wl.streams()),
        "has two networks with connections or send buffers, Ping and otherwise",
        "let them share one: {(A, 'part'): wl.streams()}",
    ),
    (
        lambda: system({Hello: UDP}),
        "names Hello, which no node of the system takes",
        "leave it out, or write its handler",
    ),
    (
        lambda: stack(network=wl.networks({Data: UDP}, otherwise=wl.streams())),
        (
            "names Data, which nobody sends over a network: Application sends through its "
            "part link"
        ),
        "name what that part sends, or the part: 'link'",
    ),
    (
        lambda: stack(network=wl.networks({"": UDP}, otherwise=wl.streams())),
        (
            "names the node itself, which sends nothing over a network: Application sends "
            "through its part link"
        ),
        "name 'link'",
    ),
    (
        lambda: system({"hart": UDP}),
        "names part hart, which no node of the system has",
        "parts that send are '', 'heart'",
    ),
    (
        lambda: system({Beat: UDP, "heart": wl.streams()}),
        "names both Beat and part heart, which sends it: two networks would carry it",
        "put both into one entry, or name classes in place of the part",
    ),
    (
        lambda: system({Ping: UDP}, ignore_noops=True, otherwise=wl.streams()),
        "ignore_noops=True) with the ordered network streams",
        "use it with datagrams(reordering=True) or a message set",
    ),
]


@pytest.mark.parametrize(("make", "what", "remedy"), MISTAKES)
def test_what_cannot_be_meant_is_refused(
    make: Callable[[], Any], what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        make()
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_a_class_and_the_part_that_sends_it_may_share_an_entry():
    driven = greeted({(Beat, "heart"): wl.streams()}, faults=FAULTS)
    assert befallen(driven, "drop") == ["Join", "Leave", "Ping"]
