"""What is in the calls of a minimised run: no more than the violation needs."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run
from tests.minimizing import clubs
from tests.minimizing.clubs import club, shop
from tests.shrink.legality import illegal

import worldline as wl
from worldline.model.contents import CallContents, calls_of, left_out, with_contents
from worldline.trace.format import read, write


def minimized(system: wl.System, folder: Path, **options: object) -> wl.MinimizeReport:
    out = folder / "run.wl"
    wl.walk(system, seed=1, scheduler="uniform", events=3_000, out=out)
    return wl.minimize(out, system=system, **options)  # type: ignore[arg-type]


def only_call(report: wl.MinimizeReport) -> str:
    (said,) = report.contents
    return said.partition(" is ")[2]


def test_a_club_is_as_small_as_one_vote_makes_a_majority(tmp_path: Path):
    report = minimized(club(), tmp_path, contents=True)
    # Both start, both are told of both, and one hears of the other.
    assert (report.final.deliveries, report.final.externals) == (3, 4)
    shortest = report.properties[0].run
    assert shortest is not None
    assert illegal(shortest) == ""
    assert only_call(report).count(",") == 1
    assert report.network == "declared"


def test_without_being_asked_the_calls_stay_as_they_are(tmp_path: Path):
    report = minimized(club(), tmp_path)
    assert report.contents == ()
    assert "contents" not in read(report.trace or "").header.options
    # Three of seven have to vote for the fourth; who votes is told, too.
    assert report.final.deliveries == 7


def test_members_are_left_out_and_numbers_come_near_to_0(tmp_path: Path):
    report = minimized(shop(), tmp_path, contents=True)
    assert only_call(report) == "stock(FrozenMap({'tea': 30}), (9, -4), 'word')"


def test_the_trace_replays_with_its_own_calls(tmp_path: Path):
    report = minimized(club(), tmp_path, contents=True)
    assert report.trace is not None
    assert wl.replay(report.trace, club()).reproduced
    again = wl.minimize(report.trace, system=club(), contents=True, certify=0)
    assert again.final == report.final
    assert again.contents == report.contents
    later = wl.minimize(again.trace or "", system=club(), certify=0)
    assert later.contents == report.contents


def test_the_printed_command_replays_it(tmp_path: Path):
    target = f"{Path(clubs.__file__).resolve()}:club"
    out = tmp_path / "run.wl"
    wl.walk(target, seed=1, scheduler="uniform", events=3_000, out=out)
    done = run("minimize", out, target, "--contents", "--json", "--certify", "0")
    report = json.loads(done.out)
    assert (done.status, len(report["contents"])) == (1, 1)
    _, verb, *rest = shlex.split(report["replay"])
    assert "nobody_is_elected, reproduced" in run(verb, *rest).out
    assert "calls with other contents: join" in run("show", report["trace"]).out


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ("join", "which are none"),
        ([{"call": "join"}], "which are none"),
        ([{"call": "leave", "was": {"$tuple": []}, "is": {"$tuple": []}}], "not make"),
        ([{"call": "join", "was": None, "is": None}], "which are none"),
    ],
)
def test_contents_that_are_none_are_refused(contents: Any, words: str, tmp_path: Path):
    report = minimized(club(size=3), tmp_path, contents=True)
    assert report.trace is not None
    trace = read(report.trace)
    options = {**trace.header.options, "contents": contents}
    edited = replace(trace, header=replace(trace.header, options=options))
    write(edited, report.trace)
    with pytest.raises(wl.InputError, match=words):
        wl.replay(report.trace, club(size=3))


def test_a_node_that_nobody_names_any_more_is_not_driven():
    system = club(size=3)
    a, b, c = system.ids
    (call,) = calls_of(system).values()
    fewer = CallContents(call.name, call.arguments, (frozenset({a, b}),))
    changed = with_contents(system, [fewer])
    assert left_out(changed) == {c}
    assert [len(scripts) for scripts in changed.scripts] == [1, 1, 1]
    assert changed.scripts[2][0].calls == ()
    assert with_contents(changed, []) is system


def test_contents_go_with_the_system_and_replace_each_other():
    system = shop()
    (call,) = calls_of(system).values()
    goods: wl.FrozenMap[str, int] = wl.FrozenMap({"tea": 1})
    one, other = (
        CallContents(call.name, call.arguments, (goods, sizes, "word"))
        for sizes in ((), (1,))
    )
    changed = with_contents(with_contents(system, [one]), [other])
    assert changed.contents == (other,)
    renamed = changed.replace(name="another")
    assert (renamed.contents, renamed.plain and renamed.plain.name) == (
        (other,),
        "another",
    )
    (made,) = calls_of(renamed).values()
    assert made.arguments == other.after


@pytest.mark.parametrize("after", [(), (3, 4, 5), ([1], (), "w")])
def test_a_call_that_cannot_be_made_so_is_refused(after: tuple[object, ...]):
    (call,) = calls_of(shop()).values()
    with pytest.raises(wl.ModelError, match="stock cannot be called with"):
        with_contents(shop(), [CallContents(call.name, call.arguments, after)])


TOLD, TELLER = wl.ids("told", "teller")


@wl.message
class Share:
    names: frozenset[int]
    amount: int


@wl.node
class Heap:
    names: frozenset[int] = frozenset()
    amount: int = 0

    @wl.call
    def give(self, ctx: wl.Context, names: frozenset[int], amount: int) -> None:
        ctx.send(TOLD, Share(names, amount))

    @wl.on(Share)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Share) -> None:
        self.names |= msg.names
        self.amount += msg.amount


@wl.safety
def it_is_no_heap(view: wl.View) -> bool:
    return len(view[TOLD].names) < 3 or bool(view[TOLD].amount < 12)


def heaps() -> wl.System:
    given = [({1, 2, 3, 4, 5}, 5), ({7, 8}, 9), ({1, 9}, 7)]
    calls = [wl.invoke(Heap.give, frozenset(names), n) for names, n in given]
    return wl.System(
        {TOLD: Heap(), TELLER: Heap()},
        workload=[wl.script(TELLER, calls)],
        properties=[it_is_no_heap],
        name="heaps",
    )


def test_what_happens_without_a_step_is_said_of_the_run_with_its_own_calls(
    tmp_path: Path,
):
    report = minimized(heaps(), tmp_path, contents=True)
    assert len(report.contents) == 2
    assert report.needed is not None
    assert [one.violates for one in report.needed] == [None] * 4
