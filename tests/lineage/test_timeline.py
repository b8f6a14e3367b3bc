from __future__ import annotations

import doctest

import pytest
from tests.lineage.broadcast import Broadcast

import worldline as wl
from worldline.injection.scope import Crash, Delay, FaultSet, Loss, Scope
from worldline.injection.subject import Run, SentMessage
from worldline.lineage.explaining import cause, explained, lines, phrases, timeline
from worldline.lineage.explaining.cause import bounded, missing_words
from worldline.lineage.explaining.lines import WIDTH, wrapped
from worldline.lineage.explaining.phrases import culprits, faults_phrase
from worldline.lineage.explaining.timeline import sent_words
from worldline.lineage.targets import fact_groups

ABC = ("a", "b", "c")


def drawn(run: Run, scope: Scope, *nodes: str) -> list[str]:
    return timeline.timeline(run, scope, nodes)


@pytest.mark.parametrize(
    "module", [cause, explained, lines, phrases, timeline, fact_groups]
)
def test_the_examples_are_right(module: object):
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_a_sender_has_a_row_for_all_that_it_sends_in_a_round():
    scope = Scope(ABC, eot=3, eff=2, crashes=1)
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    run = Broadcast(scope, "retry").run(faults)
    assert drawn(run, scope) == [
        "      a       b       c",
        "  1   o───────x───────●      hello",
        "  2   X       │       │      crash; not sent: hello",
        "",
        "     o sends   ● received   x lost   X crash",
    ]


def test_a_lane_is_dotted_while_its_node_is_down():
    scope = Scope(ABC, eot=4)
    sent = [SentMessage("c", "b", t, "hi", t + 1) for t in (1, 2, 3)]
    sent.append(SentMessage("b", "a", 2, "hi", None))
    assert drawn(run_of(frozenset({Crash(2, "a", 3)}), sent), scope)[1:] == [
        "  1   │       ●───────o      hi",
        "  2   X       │       │      crash until 3",
        "  2   !───────o       │      hi",
        "  2   ┊       ●───────o      hi",
        "  3   │       ●───────o      hi",
        "",
        "     o sends   ● received   ! does not arrive   X crash",
    ]


def many(count: int, rounds: int) -> tuple[Run, Scope]:
    """Return a run in which all send to all, one message is lost, one is late."""
    nodes = tuple(f"replica{n}" for n in range(count))
    lost, late = Loss(2, "replica7", "replica8"), Delay(2, "replica0", "replica1", 2)
    sent = [
        SentMessage(src, dst, t, "hello", arrival(Loss(t, src, dst)))
        for t in range(1, rounds)
        for src in nodes
        for dst in nodes
        if src != dst
    ]

    run = run_of(frozenset({lost, late}), sent)
    return run, Scope(nodes, rounds, rounds)


def run_of(faults: FaultSet, sent: list[SentMessage]) -> Run:
    return Run(
        faults,
        frozenset(),
        frozenset(),
        sent,
        Broadcast(Scope(ABC, 1), "retry").run(frozenset()).support,
    )


def arrival(link: Loss) -> int | None:
    if str(link) == "loss replica7->replica8@2":
        return None
    is_late = str(link) == "loss replica0->replica1@2"
    return link.time + 3 if is_late else link.time + 1


def test_affected_nodes_and_rows_are_there_however_many_there_are():
    said = drawn(*many(20, 9), "replica8", "replica7")
    assert len(said) < 40
    assert max(map(len, said)) <= WIDTH
    assert "replica7 replica8" in said[0]
    assert said[1].startswith("     and 15 more nodes: replica3, replica4")
    (lost,) = (
        line for line in said if "x" in line.split("hello")[0] and "hello" in line
    )
    assert lost.endswith("hello, and to 15 more")
    assert any(line.startswith("...  more is sent in ") for line in said)
    assert any(", 2 late" in line for line in said)


def test_labels_do_not_name_the_receiver_again():
    assert sent_words(SentMessage("a", "b", 1, 'log("b", 1)', None)) == "log(1)"
    assert sent_words(SentMessage("1", "2", 1, "log(2, 1)", None)) == "log(1)"
    assert sent_words(SentMessage("a", "b", 1, 'tick("b")', None)) == "tick"
    assert sent_words(SentMessage("a", "b", 1, "Ping(of='b')", None)) == "Ping(of='b')"


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({Loss(1, "a", "b"), Loss(1, "a", "c")}, "all that a sends is lost in 1"),
        ({Loss(1, "a", "c"), Loss(1, "b", "c")}, "all that is sent to c is lost in 1"),
        ({Loss(1, "a", "b"), Loss(3, "a", "b")}, "a→b is lost in 1 and 3"),
        ({Delay(1, "a", "b", 1)}, "a→b of 1 is 1 round late"),
        (
            {Crash(1, "a", 3, ("b",))},
            "a is down from 1 until 3 (in 1 it still reaches b)",
        ),
    ],
)
def test_faults_that_are_alike_are_one_clause(faults: FaultSet, said: str):
    assert faults_phrase(frozenset(faults), Scope(ABC, 4)) == said


def test_losses_to_nearly_all_name_who_is_spared():
    scope = Scope(tuple("abcdefg"), 4)
    losses = frozenset(Loss(1, "a", to) for to in "bcdef")
    assert faults_phrase(losses, scope) == "what a sends to all but g is lost in 1"


def test_who_crashes_is_named_before_who_is_not_heard():
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "c")})
    assert culprits(faults) == ["c", "a", "b"]


def test_long_chains_keep_their_ends():
    assert bounded(list("abcdefgh")) == ["a", "b", "c", "... (3 steps) ...", "g", "h"]
    assert bounded(list("abcdef")) == list("abcdef")


def test_goals_that_have_no_place_are_said_like_others():
    assert (
        missing_words(["(termination, 1)"]) == "(termination, 1) is owed, and missing"
    )


def test_lines_are_wrapped_at_words_or_after_commas_and_commands_stay_whole():
    words = wrapped("    " + "word " * 30)
    assert max(map(len, words)) <= WIDTH
    assert words[1].startswith("      word")
    names = ",".join(f"replica{n}" for n in range(20))
    assert max(map(len, wrapped(f"  nodes {names}"))) <= WIDTH
    assert wrapped("x" * 100) == ["x" * 100]


@wl.message
class Counts:
    of: wl.FrozenMap[str, int]


@wl.node
class Teller:
    heard: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if ctx.me == ctx.nodes[0]:
            ctx.set_timer(Teller.tell, after=1.0)

    @wl.timer
    def tell(self, ctx: wl.Context) -> None:
        ctx.send(ctx.nodes[1], Counts(wl.FrozenMap({"tea": 3})))

    @wl.on(Counts)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Counts) -> None:
        self.heard = True


@wl.liveness
def the_second_hears(view: wl.View) -> bool:
    return bool(view[view.nodes[1]].heard)


def test_messages_are_written_as_in_traces():
    tellers = {node: Teller() for node in wl.ids("a", "b")}
    system = wl.System(tellers, properties=[the_second_hears], name="tellers")
    said = str(wl.find_faults(system, eot=4, eff=3, traces=False))
    assert "Counts(of={'tea': 3})" in said
    assert "FrozenMap" not in said
