"""Answers of a predictor: they come out as they went in, and nothing else comes out."""

from __future__ import annotations

import contextlib
import random

import pytest

import worldline as wl
from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.steer.process.answers import AnswerCodec, FoundFailure, PredictorAnswer
from worldline.trace.format import lines_of, read
from worldline.trace.journal.messagepack import pack
from worldline.trace.json_checks import Malformed
from worldline.trace.records import Trace
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


@wl.message
class Word:
    text: str
    about: wl.NodeId


@wl.node
class Talker:
    other: wl.NodeId
    heard: int = 0

    @wl.call
    def say(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Word("bad", A))

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1

    @wl.timer
    def tick(self, ctx: wl.Context, count: int) -> None: ...


@wl.safety
def nobody_hears(view: wl.View) -> bool:
    return not view[A].heard


SYSTEM = wl.System(
    {A: Talker(B), B: Talker(A)},
    workload=[wl.script(B, [wl.invoke(Talker.say)])],
    properties=[nobody_hears],
    name="talkers",
)
CODEC = AnswerCodec(SYSTEM, ["filter", "reported"])
HEARD = delivery(A, OpenEnvelope(B, "", Word("bad", A)))
TICK = Event(Kind.TIMER, B, name="tick", payload=3)
FILTERS = [
    EventFilter.of(HEARD),
    EventFilter.of(HEARD, exact=True),
    EventFilter.of(TICK),
    EventFilter.of(TICK, exact=True),
]


def state_trace() -> Trace:
    """Return a trace that begins in a state, without steps."""
    world = DirectWorld(SYSTEM)
    end = Ending(None, None, Verdict.UNKNOWN, "no property was judged")
    return record(
        DirectWorld(SYSTEM),
        [],
        [],
        [],
        ending=end,
        engine="debug",
        seed=0,
        begins=take(world),
    )


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> PredictorAnswer:
    with contextlib.chdir(tmp_path_factory.mktemp("found")):
        report = wl.check(SYSTEM)
        (found,) = report.properties
        assert found.trace is not None
        trace, state = read(found.trace), state_trace()
    failures = tuple(
        FoundFailure("nobody_hears", 7, "filter", (one,), None, trace)
        for one in FILTERS
    )
    other = FoundFailure("nobody_hears", 9, "reported", (), (B, b"path"), state)
    return PredictorAnswer(is_known=False, states=100, failures=(*failures, other))


def test_an_answer_comes_out_as_it_went_in(answer: PredictorAnswer):
    again = CODEC.decode(CODEC.encode(answer))
    assert again == answer
    filters = [filter_ for one in again.failures for filter_ in one.filters]
    assert [one.matches(HEARD) for one in filters] == [True, True, False, False]
    assert [one.matches(TICK) for one in filters] == [False, False, True, True]


def test_nothing_but_an_answer_comes_out(answer: PredictorAnswer):
    rng = random.Random(0)
    all_of_it, few = CODEC.encode(answer), pack([True, 3, [GOOD]])
    refused = 0
    for number in range(3_000):
        data = bytearray(all_of_it if number % 10 == 0 else few)
        for _ in range(rng.choice((1, 1, 2, 4))):
            place = rng.randrange(len(data) if number % 10 == 0 else 60)
            if rng.random() < 0.2:
                del data[place : place + rng.randrange(1, 8)]
            else:
                data[place] = rng.randrange(256)
        try:
            CODEC.decode(bytes(data))
        except Malformed:
            refused += 1
    assert refused > 1_000


GOOD = [
    "nobody_hears",
    1,
    "filter",
    [[0, "timer", "", "tick", None, None]],
    [1, b"path"],
    "\n".join(lines_of(state_trace())),
]


@pytest.mark.parametrize("spelt", [None, [], [True, 1, [], []], [True, True, []]])
def test_what_is_no_answer_is_refused(spelt: object):
    with pytest.raises(Malformed):
        CODEC.decode(pack(spelt))


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, b"name"),
        (1, True),
        (2, "eval"),
        (3, [[2, "timer", "", "tick", None, None]]),
        (3, [[-1, "timer", "", "tick", None, None]]),
        (3, [[0, "start", "", "", None, None]]),
        (3, [[0, "timer", "", "tick", None, b"\xc1"]]),
        (3, [0]),
        (3, None),
        (3, [[0, "timer", "", "tick", 7, None]]),
        (4, [5, b""]),
        (4, [0, "text"]),
        (5, None),
        (5, ""),
        (5, "{}"),
        (5, GOOD[5] + "\n{}"),  # type: ignore[operator]
        (5, GOOD[5].partition("\n")[0]),  # type: ignore[attr-defined]
    ],
)
def test_a_failure_with_one_thing_wrong_is_refused(place: int, wrong: object):
    CODEC.decode(pack([True, 1, [GOOD]]))
    bad = [*GOOD[:place], wrong, *GOOD[place + 1 :]]
    with pytest.raises(Malformed):
        CODEC.decode(pack([True, 1, [bad]]))
