"""MaceTransport: each bug is found, and shows as the paper tells; the fixed one is right."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.worlds.driving import Driven

import worldline as wl
from worldline import zoo
from worldline.cli.main import build_parser
from worldline.cli.options import assignments
from worldline.loading.loader import load
from worldline.trace.format import read
from worldline.zoo import macetransport
from worldline.zoo.macetransport.application import Application, Item
from worldline.zoo.macetransport.connections import Incoming
from worldline.zoo.macetransport.messages import (
    Ack,
    Data,
    DataFragment,
    Fragment,
    Reset,
    Segment,
    first_of,
)
from worldline.zoo.macetransport.protocol import MaceTransport

S, R = wl.ids("s", "r")

QUIET = "all_is_acknowledged"

Patterns = list[wl.events.Pattern]

begin, deliver, reset = (
    lambda node: wl.events.call(node, Application.begin),
    wl.events.deliver,
    wl.events.reset,
)


def time_out(node: wl.NodeId, *, overdue: bool | None = None) -> wl.events.Pattern:
    """Let the first retransmission timer fire; `overdue` needs a budget of time-outs."""
    choices = () if overdue is None else (0 if overdue else 1,)
    return wl.events.timer(node, MaceTransport.retransmission, choices=choices)


# --------------------------------------------------------------------- each bug is found

CHECKED = {
    "1": ("delivered_once_in_order", 4),
    "2": ("timers_are_those_in_flight", 4),
    "4": ("exception", 8),
    "5": ("acks_are_founded", 4),
    "8": ("messages_are_whole", 6),
    "9": ("acks_are_founded", 4),
    "10": ("room_is_told_on_request", 5),
}
"""By bug: what its exhaustive search finds, and after how many steps."""


def checked(bug: str, *, present: bool) -> wl.Report:
    """Search as a bug's command says, with the bug or without."""
    words = shlex.split(zoo.bugs()[f"macetransport-{bug}"].command)
    given = build_parser().parse_args(words)
    parameters = assignments(given.parameters)
    parameters = parameters if present else {**parameters, "bugs": ""}
    system = load(given.target, parameters)
    return wl.check(system, max_depth=given.max_depth, traces=False)


def test_every_bug_is_found_by_a_search_or_by_walks():
    ours = {b for b in zoo.bugs() if b.startswith("macetransport-")}
    walked = {f"macetransport-{b.removeprefix('mt')}" for b in SCENARIOS}
    assert ours == walked | {f"macetransport-{bug}" for bug in CHECKED}
    assert len(ours) == len(macetransport.SWITCHES) == 13


@pytest.mark.parametrize("bug", CHECKED)
def test_a_search_finds_the_bug_and_nothing_without_it(bug: str):
    name, steps = CHECKED[bug]
    report = checked(bug, present=True)
    report.expect_violated(name)
    assert report.violated is not None
    assert report.violated.steps == steps
    fixed = checked(bug, present=False)
    assert (fixed.verdict, fixed.bound) == (wl.Verdict.UNKNOWN, "depth")


def test_a_timer_that_survived_looks_for_a_packet_that_is_gone():
    system = macetransport.system(bugs=("mt2",), messages=3, timeouts=1)
    report = wl.check(
        system, properties=["messages_are_whole"], max_depth=7, traces=False
    )
    report.expect_violated("exception")
    assert "KeyError: 2003" in str(report)


# ---------------------------------------------------- liveness: what the paper tells


@dataclass(frozen=True)
class Scenario:
    """How a bug leads to a dead state; the last event is the critical one."""

    schedule: Callable[[], Patterns]
    parameters: dict[str, Any] = field(default_factory=dict)


def _syns_out_of_order(first: int, second: int) -> Patterns:
    return [
        begin(S),
        time_out(S, overdue=True),
        deliver(R, Data(6001, second, Item(1, 0))),
        deliver(R, Data(2001, first, Item(0, 0))),
        deliver(S, Ack(6001)),
    ]


def _identifier_lost() -> Patterns:
    """R gives up sending, and forgets with the connection which SYN was the newest."""
    return [
        begin(S),
        time_out(S, overdue=True),
        deliver(R, Data(6001, 2, Item(1, 0))),
        begin(R),
        time_out(R, overdue=True),
        deliver(R, Data(2001, 1, Item(0, 0))),
        deliver(S, Ack(6001)),
    ]


def _ack_above_all_in_flight() -> Patterns:
    """2002 is being sent again, 2003 waits for that, and R will never ack less."""
    return [
        begin(S),
        deliver(R, Data(2001, 1, Item(0, 0))),
        deliver(S, Ack(2001)),
        time_out(S),
        time_out(S),
        deliver(R, Data(2003, 0, Item(0, 2))),
    ]


def _reset_after_a_newer_syn() -> Patterns:
    """R began anew before its Reset reaches S, which then waits for another SYN."""
    return [
        begin(S),
        time_out(S, overdue=True),
        deliver(R, Data(6001, 2, Item(1, 0))),
        begin(R),
        time_out(R, overdue=True),
        deliver(S, Ack(6001)),
        deliver(R, Data(6002, 0, Item(1, 1))),
        deliver(S, Data(6001, 2, Item(1, 0))),
        deliver(S, Reset(6002)),
    ]


def _connection_of_before_a_reset() -> Patterns:
    """R has forgotten which SYN was the newest, and takes an older one."""
    return [
        begin(S),
        time_out(S, overdue=True),
        deliver(R, Data(6001, 2, Item(1, 0))),
        reset(R),
        deliver(R, Data(2001, 1, Item(0, 0))),
        deliver(S, Ack(6001)),
    ]


SCENARIOS = {
    "mt3": Scenario(lambda: _syns_out_of_order(1, 1), {"timeouts": 1}),
    "mt3a": Scenario(lambda: _syns_out_of_order(1, 2), {"timeouts": 1}),
    "mt3b": Scenario(_identifier_lost, {"timeouts": 1, "senders": "all"}),
    "mt6": Scenario(_ack_above_all_in_flight, {"timeouts": 0, "messages": 3}),
    "mt7": Scenario(_reset_after_a_newer_syn, {"timeouts": 1, "senders": "all"}),
    "mt11": Scenario(_connection_of_before_a_reset, {"timeouts": 1}),
}


def critical_step(bug: str, schedule: Patterns, *, present: bool = True) -> int | None:
    """Return the critical step of walks after a schedule, counted from there."""
    bugs = (bug,) if present else ()
    system = macetransport.system(bugs=bugs, **SCENARIOS[bug].parameters)
    system.prologue = tuple(schedule)
    report = wl.walk(system, properties=[QUIET], depth=2, max_steps=300, traces=False)
    return report.critical.step if report.critical else None


PAPERS = [
    pytest.param(bug, marks=() if bug == "mt3" else pytest.mark.nightly)
    for bug in SCENARIOS
]
"""The bug of the paper's figures; the others are found by walks in any case."""


@pytest.mark.parametrize("bug", PAPERS)
def test_no_walk_becomes_live_after_the_last_event(bug: str):
    assert critical_step(bug, SCENARIOS[bug].schedule()) == 0


@pytest.mark.parametrize("bug", PAPERS)
def test_some_walk_becomes_live_before_the_last_event(bug: str):
    assert critical_step(bug, SCENARIOS[bug].schedule()[:-1]) != 0


@pytest.mark.parametrize("bug", PAPERS)
def test_no_walk_dies_without_the_bug(bug: str):
    schedule = SCENARIOS[bug].schedule()
    if bug == "mt3":  # there, each SYN has an identifier of its own
        schedule = _syns_out_of_order(1, 2)
    assert critical_step(bug, schedule, present=False) is None


def test_mt3_is_found_as_the_paper_tells_it(tmp_path: Path):
    """Figure 5: the fifth step is the critical one, in which S takes ACK 6001."""
    words = shlex.split(zoo.bugs()["macetransport-3"].command)
    given = build_parser().parse_args(words)
    report = wl.walk(
        load(given.target, assignments(given.parameters)),
        properties=given.properties,
        depth=given.depth,
        max_steps=given.max_steps,
        seed=given.seed,
        out=tmp_path / "dead.wl",
    )
    assert report.critical is not None
    assert report.critical.step == 5
    steps = read(tmp_path / "dead.wl").run[:5]
    assert [(one.node, one.name) for one in steps] == [
        ("s", "begin"),
        ("s", "retransmission"),
        ("r", "Data"),
        ("r", "Data"),
        ("s", "Ack"),
    ]
    sent: list[Any] = [sent for one in steps for sent in one.sends]
    assert [(one.name, one.message["seq"]) for one in sent] == [
        ("Data", 2001),
        ("Data", 6001),
        ("Ack", 6001),
        ("Ack", 2001),
        ("Data", 6002),
    ]


# ---------------------------------------------------- proofs, with little under way


def searched(
    under_way: int,
    *bugs: str,
    properties: list[str] | None = None,
    **parameters: Any,
) -> wl.Report:
    """Search all that happens while no more than so many messages are under way."""
    system = macetransport.system(bugs=bugs, **parameters)
    few = system.replace(assume=lambda view: len(view.messages()) <= under_way)
    return wl.check(few, properties=properties, traces=False)


HOLDING: list[tuple[dict[str, Any], int, int]] = [
    ({"timeouts": 0, "messages": 3}, 3, 299),
    ({"timeouts": 0, "messages": 1, "fragments": 3, "duplicates": 1}, 3, 1_151),
    ({"timeouts": 1}, 4, 4_371),
    ({"timeouts": 1, "drops": 1, "duplicates": 1}, 3, 13_969),
    ({"timeouts": 1, "senders": "all", "messages": 1}, 3, 16_584),
    ({"timeouts": 1, "resets": 1}, 3, 72_362),
]
LARGE = 2_000


@pytest.mark.parametrize(
    ("parameters", "under_way", "states"),
    [
        pytest.param(*case, marks=pytest.mark.nightly if case[2] > LARGE else ())
        for case in HOLDING
    ],
)
def test_the_fixed_protocol_is_safe_and_becomes_live(
    parameters: dict[str, Any], under_way: int, states: int
):
    report = searched(under_way, **parameters)
    report.expect_holds()
    assert report.states == states


@pytest.mark.parametrize(
    "bug",
    [
        "mt6",
        *[pytest.param(b, marks=pytest.mark.nightly) for b in ("mt3", "mt3a", "mt11")],
    ],
)
def test_an_exhaustive_search_finds_a_run_that_never_becomes_live(bug: str):
    parameters = {**SCENARIOS[bug].parameters, "resets": int(bug == "mt11")}
    report = searched(3, bug, properties=[QUIET], **parameters)
    report.expect_violated(QUIET)
    assert report.violated is not None
    assert report.violated.cycle is not None


# ------------------------------------------------------------------- the fixed protocol


def driven(**parameters: Any) -> Driven:
    return Driven(macetransport.system(**parameters))


def item(number: int, attempt: int = 0) -> Data:
    """Return the packet of S that has message `number` of an attempt."""
    first = 2001 + 4000 * attempt
    return Data(first + number, 0 if number else attempt + 1, Item(attempt, number))


def test_numbers_tell_their_connection():
    assert [first_of(seq) for seq in (2001, 2002, 6000, 6001)] == [
        2001,
        2001,
        2001,
        6001,
    ]


def test_each_ack_widens_the_window_by_what_it_acknowledges():
    run = driven(messages=9)
    run.do(begin(S))
    for seq, sent in ((2001, 1), (2002, 2), (2003, 3)):
        assert len(run.messages(R)) == sent
        run.do(deliver(R, item(seq - 2001)))
        run.do(deliver(S, Ack(seq)))
    out = run[S].transport.out[R]
    assert (out.cwnd, list(out.inflight), out.last) == (
        4,
        [2004, 2005, 2006, 2007],
        2003,
    )


def test_beyond_the_threshold_a_whole_window_widens_it_by_one():
    run = driven(messages=9)
    run.do(begin(S))
    run.do(time_out(S, overdue=False))
    widths = []
    for seq in range(2001, 2008):
        run.do(deliver(R, item(seq - 2001)))
        run.do(deliver(S, Ack(seq)))
        widths.append(run[S].transport.out[R].cwnd)
    assert widths == [2, 2, 3, 3, 3, 4, 4]


def test_three_duplicate_acks_have_the_missing_packet_sent_again():
    run = driven(messages=9, timeouts=0)
    run.do(begin(S))
    for seq in (2001, 2002, 2003):
        run.do(deliver(R, item(seq - 2001)))
        run.do(deliver(S, Ack(seq)))
    for number in (4, 5, 6):
        assert run.messages(R).count(item(3)) == 1
        run.do(deliver(R, item(number)))
        run.do(deliver(S, Ack(2003)))
    assert run.messages(R).count(item(3)) == 2
    assert run[S].transport.out[R].cwnd == 2
    run.do(deliver(R, item(3)))
    assert run.messages(S) == [Ack(2007)]


def test_a_time_out_sends_the_oldest_again_and_one_at_a_time():
    run = driven(messages=3, timeouts=0)
    run.do(begin(S))
    run.do(deliver(R, item(0)))
    run.do(deliver(S, Ack(2001)))
    run.do(time_out(S))
    assert run.messages(R) == [item(1), item(2)]
    run.do(time_out(S))
    assert run.messages(R) == [item(1), item(1), item(2)]
    out = run[S].transport.out[R]
    assert (out.cwnd, list(out.inflight), list(out.rtbuf)) == (1, [2002], [2003])


def test_who_gives_up_closes_both_directions_and_reports_what_is_lost():
    run = driven(senders="all", messages=3, timeouts=1)
    run.do(begin(S))
    run.do(begin(R))
    run.do(deliver(S, item(0)))
    assert list(run[S].transport.incoming) == [R]
    run.do(time_out(S, overdue=True))
    assert list(run[S].transport.incoming) == []
    assert (run[S].lost, run[S].attempts[R]) == (3, 1)
    assert list(run[S].transport.out[R].inflight) == [6001]
    assert len(run.world.view.timers(S)) == 1


def test_a_reset_closes_the_outgoing_connection_and_a_syn_the_incoming_one():
    run = driven(senders="all", timeouts=1)
    run.do(begin(S))
    run.do(begin(R))
    run.do(deliver(R, item(0)))
    run.do(time_out(R, overdue=True))
    run.do(deliver(S, item(0)))
    run.do(deliver(S, Ack(2001)))
    run.do(deliver(S, item(0, 1)))
    assert run[S].transport.incoming[R].first == 6001
    assert list(run[S].transport.out[R].inflight) == [2002]
    run.do(deliver(R, item(1)))
    run.do(deliver(S, Reset(2002)))
    assert run[S].transport.incoming[R].first == 6001
    assert run[S].transport.out[R].first == 6001


def test_a_reset_of_another_connection_changes_nothing():
    run = driven(timeouts=1)
    run.do(begin(S))
    run.do(time_out(S, overdue=True))
    run.do(deliver(R, item(0, 1)))
    run.do(deliver(R, item(0)))
    run.do(deliver(S, Reset(2001)))
    assert (run[S].attempts[R], run[R].heard) == (1, {(S, 1): 1})


def test_a_duplicate_of_what_a_closed_connection_delivered_is_not_delivered():
    run = driven(senders="all", timeouts=1)
    run.do(begin(S))
    run.do(deliver(R, item(0)))
    run.do(begin(R))
    run.do(time_out(R, overdue=True))
    run.do(time_out(S, overdue=False))
    run.do(deliver(R, item(0)))
    assert run[R].heard == {(S, 0): 1}
    assert Reset(2001) in run.messages(S)


def test_fragments_in_any_order_are_deliverable_with_the_last():
    pieces: list[Segment] = [
        DataFragment(2005, 0, 4, Item(0, 1)),
        *[Fragment(2005 + frag, frag) for frag in (1, 2, 3)],
    ]
    for order in permutations(pieces):
        incoming = Incoming(2001, 2005, 2005)
        for piece in order:
            assert incoming.deliverable() is None
            incoming = incoming.holding(piece)
        head = incoming.deliverable()
        assert head is not None
        assert head.message == Item(0, 1)
        assert incoming.delivered(head) == Incoming(2001, 2005, 2009)


def test_room_is_told_to_who_has_asked():
    run = driven(messages=3, buffer=2, timeouts=0)
    run.do(begin(S))
    assert (run[S].sent[R], run[S].asked[R]) == (2, 1)
    run.do(deliver(R, item(0)))
    run.do(deliver(S, Ack(2001)))
    assert run[S].sent[R] == 2
    run.do(wl.events.timer(S, MaceTransport.cts))
    assert (run[S].sent[R], run[S].asked[R]) == (3, 0)


def test_what_a_node_sends_to_itself_comes_back_by_a_timer():
    nodes = {S: Application((S,), 2, transport=MaceTransport())}
    run = Driven(
        wl.System(nodes, workload=[wl.script(S, [Application.begin])], name="alone")
    )
    run.do(begin(S))
    assert (run[S].heard, run.messages(S)) == ({}, [])
    run.do(wl.events.timer(S, MaceTransport.loop_back))
    assert run[S].heard == {(S, 0): 2}


def test_the_third_duplicate_beyond_a_gap_closes_the_connection():
    run = driven(timeouts=1)
    for event in _connection_of_before_a_reset()[:3]:
        run.do(event)
    run.do(deliver(S, Ack(6001)))
    run.world.prepare((reset(R),))
    run.do(deliver(R, item(0)))
    for _ in range(3):
        run.do(deliver(R, item(1, 1)))
        assert list(run[R].transport.incoming) == [S]
        run.do(time_out(S))
    run.do(deliver(R, item(1, 1)))
    assert list(run[R].transport.incoming) == []
    run.do(deliver(S, Reset(6002)))
    assert run[S].attempts[R] == 2


def test_bounds_of_the_parameters_are_told():
    with pytest.raises(ValueError, match="no bug 'mt12'; there are mt1, mt2"):
        macetransport.system(bugs=("mt12",))
    with pytest.raises(ValueError, match="size=6: say a number from 2 to 5"):
        macetransport.system(size=6)
