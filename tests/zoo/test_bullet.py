"""Bullet': every bug is found, and the fixed protocol downloads and is never accused."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.zoo.walking import started

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.zoo import bullet
from worldline.zoo.bullet.messages import Block, Diff, Request
from worldline.zoo.bullet.properties import views_are_complete
from worldline.zoo.bullet.protocol import Bullet

FOUND = {"cb1": 5, "cb2": 4, "cb3": 8}
"""By bug: the events of the shortest run that violates `views_are_complete`."""

EVERY_FAULT: dict[str, Any] = {"resets": 1, "silent_resets": 1, "connection_errors": 1}
SMALL: dict[str, Any] = {"size": 2, "blocks": 2, "buffer": 2}
CHAIN: dict[str, Any] = {"peers": 0, "blocks": 2, "window": 1, "buffer": 1}
MESH: dict[str, Any] = {"size": 12, "blocks": 50, "peers": 2, "buffer": 3}

CHURN = "every 1s crash any, every 1s at 1500ms restart any, every 2s reset any"

slow = pytest.mark.slow
nightly = pytest.mark.nightly


def search(bug: str, *, present: bool = True) -> wl.Report:
    """Search as a bug's command says, with the bug or without."""
    _, target, *options = shlex.split(zoo.cross_checks()[f"bulletprime-{bug}"].command)
    given = dict(pair.split("=", 1) for pair in options[1::2])
    assert given["bugs"] == bug
    system = load(target, given if present else {**given, "bugs": ""})
    return wl.check(system, traces=False)


@pytest.mark.parametrize("bug", FOUND)
def test_each_bug_is_found_by_its_shortest_run(bug: str):
    assert search(bug).expect_violated("views_are_complete").steps == FOUND[bug]


@pytest.mark.parametrize("bug", FOUND)
def test_the_control_of_each_bug_holds(bug: str):
    search(bug, present=False).expect_holds()


def test_every_bug_is_tested():
    tested = {f"bulletprime-{bug}" for bug in FOUND}
    assert tested == {bug for bug in zoo.bugs() if bug.startswith("bulletprime-")}


@pytest.mark.parametrize("bugs", [("cb1",), ()])
def test_a_diff_that_was_refused_is_in_none_that_follows_if_it_is_forgotten(
    bugs: tuple[str, ...],
):
    """The paper's scenario, and what it says of the attempt to fix it by a retry."""
    system = bullet.system(start="cb1", bugs=bugs)
    source, a, b = system.ids
    tell = wl.events.timer(a, Bullet.tell)
    refused = [
        wl.events.deliver(a, Block, source),
        tell,
        wl.events.deliver(source, Request, a),
        wl.events.deliver(a, Block, source),
        tell,
    ]
    view = started(system, refused).view
    assert views_are_complete.judge(view).holds is not bool(bugs)
    drained = [wl.events.deliver(b, Diff, a), wl.events.deliver(a, Request, b)]
    view = started(system, [*refused, *drained]).view
    assert view[a].have == {0, 1}
    assert view[b].known[a] | view[a].shadow[b] == ({0} if bugs else {0, 1})


def test_what_the_fewest_senders_have_is_requested_next():
    one, two = wl.ids("one", "two")
    node = Bullet(6, window=2, have={0}, known={one: {0, 1, 2, 3, 4}, two: {1, 2}})
    assert node.rarest(one) == [3, 4]
    node.requested = {3: one, 4: two}
    assert node.rarest(one) == [1, 2]
    node.requested[1] = one
    assert node.rarest(one) == []
    assert node.rarest(two) == [2]


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 6))
def test_every_node_of_a_mesh_has_a_way_to_the_source(
    size: int, fanout: int, peers: int
):
    contacts = bullet.mesh(size, fanout, peers)
    assert list(contacts) == [f"n{number}" for number in range(size)]
    assert sum("n0" in chosen for chosen in contacts.values()) == min(fanout, size - 1)
    for node, chosen in contacts.items():
        assert node not in chosen
        assert len(set(chosen)) == len(chosen) <= 1 + peers
        while node != "n0":
            node = contacts[node][0]


# ----------------------------------------------------------------- the fixed protocol


@pytest.mark.parametrize(
    ("parameters", "states"),
    [
        ({**SMALL, "blocks": 3}, 54_865),
        pytest.param({"start": "cb1"}, 467_229, marks=nightly),
        pytest.param({"start": "cb3"}, 2_814_427, marks=nightly),
    ],
)
def test_no_fault_makes_a_view_of_the_fixed_protocol_incomplete(
    parameters: dict[str, Any], states: int
):
    report = wl.check(
        bullet.system(**parameters, **EVERY_FAULT),
        properties=["views_are_complete"],
        traces=False,
    )
    report.expect_holds()
    assert report.states == states


@pytest.mark.parametrize(
    "parameters",
    [
        SMALL,
        pytest.param(CHAIN, marks=nightly),
        pytest.param({"start": "cb3"}, marks=nightly),
    ],
)
def test_all_finish_after_resets_and_errors_that_somebody_notices(
    parameters: dict[str, Any],
):
    system = bullet.system(**parameters, resets=1, connection_errors=1)
    wl.check(system, traces=False).expect_holds()


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="nobody hears of a reset that nobody notices",
)
def test_all_finish_after_a_silent_reset():
    wl.check(bullet.system(**SMALL, silent_resets=1), traces=False).expect_holds()


# ------------------------------------------------------------------------- by a clock


def simulated(*bugs: str, seconds: float = 20.0, **options: Any) -> wl.SimulateReport:
    """Simulate a mesh; options that are parameters of the system go there."""
    parameters = {name: options.pop(name) for name in MESH if name in options}
    system = bullet.system(**{**MESH, **parameters}, bugs=bugs)
    return wl.simulate(system, seconds=seconds, threads=1, traces=False, **options)


def verdict(report: wl.SimulateReport, name: str) -> wl.Verdict:
    return next(one.verdict for one in report.properties if one.name == name)


@slow
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=nightly),
        {"weather": CHURN},
        {"uplink": "1Mbit", "downlink": "5Mbit"},
        {"weather": "at 500ms cut n0 n1 n2 n3, at 5s heal", "size": 10},
    ],
    ids=["calm", "churn", "links", "cut"],
)
def test_the_whole_file_gets_to_every_node(options: dict[str, Any]):
    report = simulated(**options)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert verdict(report, "all_have_finished") is wl.Verdict.HOLDS


HARD: dict[str, Any] = {
    "buffer": 1,
    "latency": "uniform 100ms 1s",
    "weather": CHURN,
}
"""Where every bug shows: full buffers, and nodes that come and go."""


@slow
@pytest.mark.parametrize("bug", FOUND)
def test_each_bug_is_met_by_a_seed(bug: str):
    simulated(bug, **HARD).expect_violated("views_are_complete")


INCOMPLETE: dict[str, Any] = {
    "size": 6,
    "blocks": 20,
    "peers": 0,
    "fanout": 1,
    "buffer": 1,
}


def test_blocks_that_nobody_tells_of_make_a_download_incomplete():
    """The consequence that the paper names, where nodes have one sender each."""

    def download(*bugs: str) -> wl.SimulateReport:
        system = bullet.system(**INCOMPLETE, bugs=bugs)
        options: dict[str, Any] = {"seconds": 30, "threads": 1, "traces": False}
        return wl.simulate(system, properties=["all_finish"], **options)

    download("cb1").expect_violated("all_finish")
    assert download().verdict is wl.Verdict.UNKNOWN


@nightly
@pytest.mark.parametrize(
    "options",
    [
        *[{"buffer": buffer} for buffer in (1, 3, 20)],
        *[{"buffer": buffer, "weather": CHURN} for buffer in (1, 3, 20)],
        HARD,
    ],
    ids=str,
)
def test_the_fixed_mesh_is_never_accused(options: dict[str, Any]):
    report = simulated(seeds=20, **options)
    assert report.verdict is wl.Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bugs": ("cb4",)}, "no bug 'cb4'; there are cb1, cb2, cb3"),
        ({"start": "cb4"}, "no start 'cb4'; there are cb1, cb2, cb3"),
        ({"size": 1}, "size=1: say 2 or more"),
        ({"blocks": 0}, "blocks=0: say 1 or more"),
        ({"fanout": 0}, "fanout=0: say 1 or more"),
        ({"window": 0}, "window=0: say 1 or more"),
    ],
)
def test_what_fits_no_mesh_is_refused(parameters: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        bullet.system(**parameters)
