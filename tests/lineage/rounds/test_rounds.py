"""What happens in a synchronous round, and what faults do to it."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    Loss,
    Scope,
)
from worldline.lineage.rounds.scheduler import RoundWorld
from worldline.lineage.rounds.subject import RoundsSubject

HALT, MUTE, PARTIAL = (
    CrashSemantics.HALT,
    CrashSemantics.MUTE,
    CrashSemantics.PARTIAL,
)


@wl.message
class Word:
    text: str


@wl.node
class Diarist:
    """Notes everything that happens to it, in order."""

    peers: tuple[wl.NodeId, ...] = ()
    greets: bool = False
    delays: tuple[float, ...] = ()
    deaf_to: str = ""
    notes: tuple[str, ...] = ()
    kept: int = wl.durable(default=0)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        for delay in self.delays:
            ctx.set_timer(Diarist.ring, delay, after=delay)
        if self.greets:
            self.tell(ctx, "hello")

    @wl.on(Word, when=lambda self, src, msg: msg.text != self.deaf_to)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.notes += (f"{src}:{msg.text}",)
        self.kept += 1
        if msg.text == "wake up":
            self.deaf_to = ""

    @wl.timer
    def ring(self, ctx: wl.Context, delay: float) -> None:
        self.notes += (f"ring {delay}",)

    @wl.call
    def say(self, ctx: wl.Context, text: str) -> None:
        self.notes += (f"say {text}",)
        self.tell(ctx, text)

    @wl.transport_error
    def cut_off(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.notes += (f"cut off from {peer}",)

    def tell(self, ctx: wl.Context, text: str) -> None:
        for peer in self.peers:
            ctx.send(peer, Word(text))


@wl.liveness
def nothing(view: wl.View) -> bool:
    return True


def pair(
    scripts: dict[str, list[str]] | None = None,
    *,
    first: dict[str, Any] | None = None,
    second: dict[str, Any] | None = None,
    **options: Any,
) -> wl.System:
    a, b = wl.ids("a", "b")
    options.setdefault("properties", [nothing])
    return wl.System(
        nodes={
            a: Diarist(peers=(b,), **(first or {})),
            b: Diarist(peers=(a,), **(second or {})),
        },
        workload=[
            wl.script(node, [wl.invoke(Diarist.say, text) for text in texts])
            for node in (a, b)
            if (texts := (scripts or {}).get(node.name))
        ],
        **options,
    )


def play(
    system: wl.System,
    *faults: Fault,
    eot: int = 4,
    semantics: CrashSemantics = HALT,
) -> RoundWorld:
    recovery = any(isinstance(f, Crash) and f.until is not None for f in faults)
    scope = Scope(("a", "b"), eot, min(3, eot), 2, semantics, recovery=recovery)
    rounds = RoundsSubject(system, scope).world(frozenset(faults))
    for number in range(1, eot + 1):
        rounds.play(number)
    return rounds


def notes(rounds: RoundWorld) -> list[tuple[str, ...]]:
    return [node.notes for node in rounds.world.nodes]


def test_what_is_sent_in_a_round_arrives_in_the_next():
    rounds = play(pair({"a": ["one", "two"]}))
    assert notes(rounds) == [("say one", "say two"), ("a:one", "a:two")]
    assert [(m.round, m.arrived) for m in rounds.sent] == [(1, 2), (2, 3)]


def test_messages_come_first_then_timers_then_calls():
    system = pair({"b": ["x", "y"]}, first={"greets": True}, second={"delays": (1.0,)})
    assert notes(play(system, eot=2))[1] == ("say x", "a:hello", "ring 1.0", "say y")


def test_messages_of_one_round_come_by_sender_and_order_of_sending():
    a, b, c = wl.ids("a", "b", "c")
    system = wl.System(
        nodes={
            a: Diarist(),
            b: Diarist(peers=(a, a)),
            c: Diarist(peers=(a,), greets=True),
        },
        workload=[wl.script(b, [wl.invoke(Diarist.say, "z")])],
        properties=[nothing],
    )
    rounds = RoundsSubject(system, Scope(("a", "b", "c"), 2)).world(frozenset())
    rounds.play(1)
    rounds.play(2)
    assert notes(rounds)[0] == ("b:z", "b:z", "c:hello")


@pytest.mark.parametrize(
    ("delay", "due"), [(0.0, 2), (0.5, 2), (1.0, 2), (1.5, 3), (2.0, 3)]
)
def test_a_timer_is_due_after_whole_rounds_and_at_least_one(delay: float, due: int):
    rounds = play(pair(first={"delays": (delay,)}), eot=due - 1)
    assert notes(rounds)[0] == ()
    rounds.play(due)
    assert notes(rounds)[0] == (f"ring {delay}",)


def test_timers_that_are_due_together_fire_in_the_order_of_setting():
    rounds = play(pair(first={"delays": (1.0, 0.2, 0.7)}), eot=2)
    assert notes(rounds)[0] == ("ring 1.0", "ring 0.2", "ring 0.7")


def test_a_round_can_have_another_length():
    system = pair(first={"delays": (0.4,)})
    subject = RoundsSubject(system, Scope(("a", "b"), 5), length=0.1)
    rounds = subject.world(frozenset())
    for number in range(1, 5):
        rounds.play(number)
        assert notes(rounds)[0] == ()
    rounds.play(5)
    assert notes(rounds)[0] == ("ring 0.4",)


@pytest.mark.parametrize("boot", ["before", "events"])
def test_what_is_sent_at_the_start_is_sent_in_round_1_and_can_be_lost(boot: Any):
    system = pair(first={"greets": True}, boot=boot)
    assert notes(play(system))[1] == ("a:hello",)
    assert notes(play(system, Loss(1, "a", "b")))[1] == ()


def test_a_loss_takes_all_of_a_pair_in_a_round_and_nothing_else():
    system = pair({"a": ["one", "two"], "b": ["other"]}, first={"greets": True})
    lost = play(system, Loss(1, "a", "b"))
    assert notes(lost) == [("say one", "b:other", "say two"), ("say other", "a:two")]
    assert [m.lost for m in lost.sent if m.round == 1 and m.src == 0] == [True, True]


def test_messages_to_oneself_are_never_lost():
    a, b = wl.ids("a", "b")
    system = wl.System(
        nodes={a: Diarist(peers=(a,), greets=True), b: Diarist()}, properties=[nothing]
    )
    assert notes(play(system, Loss(1, "a", "a")))[0] == ("a:hello",)


def test_a_halted_node_does_nothing_and_what_it_sent_before_arrives():
    system = pair({"a": ["one", "two", "three"], "b": ["to a"]})
    rounds = play(system, Crash(2, "a"))
    assert notes(rounds) == [("say one",), ("say to a", "a:one")]
    assert not rounds.world.view.is_up(system.ids[0])


def test_a_node_that_halts_in_round_1_has_sent_nothing():
    system = pair(first={"greets": True})
    assert notes(play(system, Crash(1, "a"))) == [(), ()]


def test_a_mute_node_goes_on_by_itself():
    system = pair({"a": ["one", "two"], "b": ["to a"]})
    rounds = play(system, Crash(2, "a"), semantics=MUTE)
    assert notes(rounds)[0] == ("say one", "b:to a", "say two")
    assert notes(rounds)[1] == ("say to a", "a:one")
    assert rounds.muted() == [0]


def test_a_partial_crash_lets_some_of_the_last_round_arrive():
    a, b, c = wl.ids("a", "b", "c")
    system = wl.System(
        nodes={a: Diarist(peers=(b, c)), b: Diarist(), c: Diarist()},
        workload=[
            wl.script(a, [wl.invoke(Diarist.say, "one"), wl.invoke(Diarist.say, "two")])
        ],
        properties=[nothing],
    )
    scope = Scope(("a", "b", "c"), 3, 0, 1, PARTIAL)
    rounds = RoundsSubject(system, scope).world(
        frozenset({Crash(1, "a", None, ("c",))})
    )
    for number in range(1, 4):
        rounds.play(number)
    assert notes(rounds) == [("say one",), (), ("a:one",)]


@pytest.mark.parametrize("loss", [True, False])
def test_what_arrives_at_a_node_that_is_down_is_refused_and_not_dropped(loss: bool):
    system = pair({"b": ["in 1", "in 2", "in 3"]}, network=wl.datagrams(loss=loss))
    scope = Scope(("a", "b"), 5, 0, 1, HALT, recovery=True)
    rounds = RoundsSubject(system, scope).world(frozenset({Crash(2, "a", 4)}))
    for number in range(1, 6):
        rounds.play(number)
    kinds = [event.kind for event, _ in rounds.run]
    assert (kinds.count(wl.Kind.REFUSE), kinds.count(wl.Kind.DROP)) == (2, 0)
    assert notes(rounds)[0] == ("b:in 3",)


def test_what_a_halted_node_sent_at_its_start_arrives_if_nothing_is_ever_lost():
    system = pair(first={"greets": True}, network=wl.datagrams(loss=False))
    rounds = RoundsSubject(system, Scope(("a", "b"), 3, 0, 1, HALT)).world(
        frozenset({Crash(1, "a")})
    )
    rounds.play(1)
    rounds.play(2)
    assert notes(rounds) == [(), ("a:hello",)]
    assert not rounds.sent[0].silenced


def test_a_node_that_starts_again_keeps_what_is_durable():
    """Down in rounds 2 and 3: what b sent in 1 and 2 is lost, from 3 on it arrives."""
    system = pair(
        {"b": ["in 1", "in 2", "in 3"]}, first={"greets": True, "delays": (3.0,)}
    )
    rounds = play(system, Crash(2, "a", 4), eot=7)
    assert notes(rounds)[0] == ("b:in 3", "ring 3.0")
    assert rounds.world.nodes[0].kept == 1
    assert notes(rounds)[1].count("a:hello") == 2
    assert [m.arrived for m in rounds.sent if m.src == 1] == [None, None, 4]


def test_what_waits_is_offered_again_in_every_round():
    system = pair(
        {"a": ["psst", "and", "wake up"]},
        second={"deaf_to": "psst"},
        unhandled="wait",
    )
    assert notes(play(system, eot=5))[1] == ("a:and", "a:wake up", "a:psst")


def test_in_order_what_waits_holds_up_the_rest():
    system = pair(
        {"a": ["psst", "and"]},
        second={"deaf_to": "psst"},
        unhandled="wait",
        network=wl.datagrams(reordering=False),
    )
    rounds = play(system, Loss(2, "a", "b"))
    assert notes(rounds)[1] == ()
    assert len(rounds.world.view.messages()) == 2


def test_choices_take_the_first_option_and_clocks_show_the_round():
    @wl.node
    class Chooser:
        took: str = ""
        since: Any = None
        late: tuple[bool, ...] = ()

        @wl.start
        def boot(self, ctx: wl.Context) -> None:
            self.took = ctx.choose(["first", "second"])
            self.since = ctx.now()
            ctx.set_timer(Chooser.look, after=2.0)

        @wl.timer
        def look(self, ctx: wl.Context) -> None:
            now = ctx.now()
            waited = now - self.since
            self.late = (waited > 2.0, waited >= 2.0, waited < 2.5, waited <= 1.0)

    a, b = wl.ids("a", "b")
    system = wl.System(nodes={a: Chooser(), b: Chooser()}, properties=[nothing])
    rounds = play(system, eot=3)
    node = rounds.world.nodes[0]
    assert (node.took, node.late) == ("first", (False, True, True, False))
    # Where there is no clock, the same answers are choices.
    assert rounds.run[-1][1] == (1, 0, 0, 1)


def test_a_prologue_comes_before_round_1_and_its_mail_arrives_there():
    a, _ = wl.ids("a", "b")
    system = pair({"a": ["early", "late"]}, prologue=[wl.events.call(a, Diarist.say)])
    rounds = play(system, Loss(1, "a", "b"))
    assert notes(rounds) == [("say early", "say late"), ("a:early",)]
    assert [m.round for m in rounds.sent] == [0, 1]


def test_a_loss_on_streams_breaks_the_connection_for_both():
    """The first message cannot be lost, as nothing is open that could break."""
    system = pair({"a": ["one", "two", "three", "four"]}, network=wl.streams())
    rounds = play(system, Loss(1, "a", "b"), eot=3)
    assert notes(rounds)[1] == ("a:one", "a:two")
    rounds = play(system, Loss(2, "a", "b"), eot=5)
    assert notes(rounds)[0][2:] == ("cut off from b", "say three", "say four")
    assert notes(rounds)[1] == ("a:one", "cut off from a", "a:three", "a:four")


def test_a_crash_on_streams_is_felt_by_those_who_are_connected():
    system = pair({"a": ["one", "two", "three"]}, network=wl.streams())
    rounds = play(system, Crash(3, "b"), eot=4)
    assert "cut off from b" in notes(rounds)[0]


def refusal(system: wl.System, scope: Scope) -> str:
    with pytest.raises(wl.UsageError) as refused:
        RoundsSubject(system, scope)
    return str(refused.value)


@pytest.mark.parametrize(
    ("system", "scope", "said"),
    [
        (pair(), Scope(("a",), 3), "the scope has the nodes a"),
        (pair(properties=[]), Scope(("a", "b"), 3), "promises nothing"),
        (pair(network=wl.message_set()), Scope(("a", "b"), 3), "message set"),
        (pair(), Scope(("a", "b"), 3, 2, delay=1), "cannot be late"),
        (
            pair(),
            Scope(("a", "b"), 3, 0, 1, MUTE, recovery=True),
            "nothing to start again from",
        ),
        (
            pair(network=wl.datagrams(loss=False)),
            Scope(("a", "b"), 3, 2, 0, HALT),
            "losses need messages that get lost",
        ),
        (
            pair(network=wl.datagrams(loss=False)),
            Scope(("a", "b"), 3, 0, 1, MUTE),
            "mute crashes need messages that get lost",
        ),
        (
            pair(network=wl.streams()),
            Scope(("a", "b"), 3, 2, 1, PARTIAL),
            "partial crashes need messages that get lost",
        ),
        (
            pair(faults=wl.Faults(nodes=())),
            Scope(("a", "b"), 3, 2, 1, HALT),
            "a, b cannot crash: Faults(nodes=...) of system has no node",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    system: wl.System, scope: Scope, said: str
):
    assert said in refusal(system, scope)


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([Loss(1, "a", "z")], "concerns the unknown node z"),
        ([Delay(1, "a", "b", 1)], "cannot be late"),
        ([Crash(1, "a"), Crash(2, "a")], "a crashes in"),
        ([Crash(2, "a", 2)], "ends before it begins"),
    ],
)
def test_faults_that_make_no_sense_are_refused(faults: list[Fault], said: str):
    subject = RoundsSubject(pair(), Scope(("a", "b"), 3, 2, 2, HALT))
    with pytest.raises(wl.UsageError, match=said):
        subject.run(frozenset(faults))
