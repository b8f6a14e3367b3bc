"""Chord: every published bug is found, and the fixed protocol is never accused."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.worlds.direct import DirectWorld
from worldline.zoo import chord
from worldline.zoo.chord import ring
from worldline.zoo.chord.messages import FindPred, FindPredReply, UpdatePred
from worldline.zoo.chord.properties import RING_SECONDS, alone_on_both_sides
from worldline.zoo.chord.protocol import JOIN_TIMEOUT, PATIENCE, Chord

SEARCHED = {
    "cb1": ("alone_on_both_sides", 7),
    "cb2": ("predecessor_is_nearest", 3),
    "cb3": ("find_queue_is_bounded", 4),
}
"""By bug: the property that fails, and the events of the shortest run."""

SIMULATED: dict[str, tuple[int, int, str, str]] = {
    "wids1": (1, 8, "exception", "ZeroDivisionError"),
    "wids2": (0, 8, "exception", "'NoneType' object has no attribute"),
    "wids3": (0, 8, "ring_consistency", "predecessor was None"),
    "wids4": (0, 32, "correct_fingers", "is None and not n2519810136"),
    "wids5": (0, 8, "correct_fingers", "begins at 127, is n191 and not n127"),
}
"""By bug: a seed that meets it, the bits of keys, the property that fails, and why."""

LEAVE = "at 8s crash any"
CHURN = "every 7s crash any, every 7s at 11s restart any, at 30s reset any"

slow = pytest.mark.slow


def test_keys_of_nodes_are_all_different():
    for bits in range(1, 11):
        nodes = ring.nodes(1 << bits, bits)
        assert {ring.key_of(node) for node in nodes} == set(range(1 << bits))


def test_a_key_is_between_two_others_if_one_meets_it_on_the_way():
    for start in range(8):
        for end in range(8):
            way = [(start + step) % 8 for step in range(1, (end - start) % 8 or 8)]
            inside = [key for key in range(8) if ring.is_between(key, start, end, 3)]
            assert sorted(way) == inside
            owned = [key for key in range(8) if ring.is_owned(key, start, end, 3)]
            assert sorted([*way, end]) == owned


# ------------------------------------------------------------- what CrystalBall found


def search(bug: str, *, present: bool = True) -> wl.Report:
    _, target, *options = shlex.split(zoo.cross_checks()[f"chord-{bug}"].command)
    pairs = list(zip(options[::2], options[1::2], strict=True))
    given = dict(value.split("=", 1) for option, value in pairs if option == "-p")
    assert given["bugs"] == bug
    system = load(target, given if present else {**given, "bugs": ""})
    return wl.check(system, max_depth=int(dict(pairs)["--max-depth"]), traces=False)


@pytest.mark.parametrize("bug", SEARCHED)
def test_each_bug_of_crystalball_is_found_by_its_shortest_run(bug: str):
    name, steps = SEARCHED[bug]
    assert search(bug).expect_violated(name).steps == steps


@pytest.mark.parametrize("bug", SEARCHED)
def test_the_control_of_each_of_them_is_not_accused(bug: str):
    assert search(bug, present=False).verdict is wl.Verdict.UNKNOWN


def in_first_state(system: wl.System) -> DirectWorld:
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    world.prepare(system.prologue)
    return world


@pytest.mark.parametrize("bugs", [("cb1",), ()])
def test_the_events_of_figure_11_leave_a_node_alone_on_one_side(bugs: tuple[str, ...]):
    system = chord.system(start="cb1", resets=1, connection_errors=1, bugs=bugs)
    world = in_first_state(system)
    by_key = {ring.key_of(node): node for node in system.ids}
    a, c = by_key[1], by_key[5]
    assert world.view[a].successors[0] == c
    world.prepare(
        (
            wl.events.reset(c),
            wl.events.call(c, Chord.join, choices=[1]),
            wl.events.deliver(a, FindPred, c),
            wl.events.deliver(c, FindPredReply, a),
            wl.events.disconnect(a, c),
            wl.events.transport_error(c, a),
            wl.events.deliver(c, UpdatePred, c),
        )
    )
    assert alone_on_both_sides.judge(world.view).holds is not bool(bugs)
    assert world.view[c].successors == [by_key[7]]


def test_nodes_that_join_at_once_are_told_the_same_as_in_figure_12():
    view = in_first_state(chord.system(start="cb2", bugs=("cb2",))).view
    b, a, c = sorted(view, key=ring.key_of)
    assert [view[n].predecessor for n in (a, b, c)] == [c, c, a]
    assert [view[n].successors for n in (a, b)] == [[c], [c]]
    assert view[c].successors[0] == b


@slow
@pytest.mark.parametrize("start", ["", *SEARCHED])
def test_the_fixed_ring_survives_every_fault(start: str):
    system = chord.system(start=start, resets=1, silent_resets=1, connection_errors=1)
    report = wl.check(system, max_states=5_000, traces=False)
    assert report.verdict is wl.Verdict.UNKNOWN


# ------------------------------------------------------------ what WiDS Checker found


def simulated(*bugs: str, bits: int = 8, **options: Any) -> wl.SimulateReport:
    system = chord.system(size=10, bits=bits, bugs=bugs)
    given: dict[str, Any] = {"weather": LEAVE, "seconds": 30.0, "threads": 1}
    return wl.simulate(system, traces=False, **(given | options))


@slow
@pytest.mark.parametrize("bug", share(list(SIMULATED), but=["wids5"]))
def test_each_bug_of_wids_checker_is_met_by_a_seed(bug: str):
    seed, bits, name, why = SIMULATED[bug]
    report = simulated(bug, seed=seed, bits=bits)
    assert why in str(report.expect_violated(name).explanation)


@slow
@pytest.mark.parametrize("bits", [8, 32])
def test_the_fixed_ring_settles_after_joins_and_a_leave(bits: int):
    report = simulated(bits=bits)
    assert report.verdict is wl.Verdict.UNKNOWN


@slow
def test_a_founder_that_comes_back_joins_the_ring_of_the_others():
    report = simulated(weather="at 8s crash n0, at 10s restart n0", seconds=35.0)
    assert report.verdict is wl.Verdict.UNKNOWN


@slow
def test_a_ring_that_all_have_lost_is_founded_again():
    system = chord.system(size=2)
    options: dict[str, Any] = {"seconds": 40, "threads": 1, "traces": False}
    report = wl.simulate(system, weather="at 5s reset n0 n15", **options)
    spans = {prop.name: prop.spans for prop in report.properties}["ring_consistency"]
    assert spans[-1].until is not None
    assert 5 < spans[-1].until - PATIENCE * JOIN_TIMEOUT < 10


@slow
def test_a_failure_begins_the_time_to_settle_anew():
    report = simulated(weather="at 20s crash any", seconds=25.0)
    spans = {prop.name: prop.spans for prop in report.properties}["ring_consistency"]
    (crash,) = [span for span in spans if span.time == 20.0]
    assert crash.confidence is not None
    assert crash.until is not None
    assert 0 < crash.confidence < (crash.until - 20.0) / RING_SECONDS


@pytest.mark.nightly
@pytest.mark.parametrize("weather", [LEAVE, CHURN])
@pytest.mark.parametrize("bits", [8, 32])
def test_the_fixed_ring_is_never_accused(weather: str, bits: int):
    report = simulated(bits=bits, weather=weather, seconds=60.0, seeds=20)
    assert report.verdict is wl.Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bugs": ("cb4",)}, "no bug 'cb4'; there are cb1, cb2, cb3, wids1"),
        ({"start": "cb4"}, "no start 'cb4'; there are cb1, cb2, cb3"),
        ({"size": 17}, "size=17: say 1 to 16, the keys of 4 bits"),
        ({"bits": 0}, "bits=0: say 1 to 64"),
        ({"keep": 0}, "keep=0: say 1 or more"),
        ({"contacts": 0}, "contacts=0: say 1 or more"),
    ],
)
def test_what_fits_no_ring_is_refused(parameters: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        chord.system(**parameters)


def test_every_bug_is_tested():
    tested = {f"chord-{bug}" for bug in SEARCHED | SIMULATED}
    assert tested == {bug for bug in zoo.bugs() if bug.startswith("chord-")}
