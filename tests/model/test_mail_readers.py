"""What is under way to a node that is down for good, and who can tell."""

from __future__ import annotations

import functools
import importlib
import operator
from pathlib import Path
from typing import Any, Literal

import pytest
from tests import alike
from tests.cli.command import run
from tests.oracle import Oracle, explore

import worldline as wl
from worldline.model.mail_readers import read_messages

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Total:
    value: int


@wl.node
class Counter:
    total: int = 0

    @wl.call
    def add(self, ctx: wl.Context, amount: int) -> None:
        self.total += amount
        ctx.send(B, Total(self.total))
        ctx.send(C, Total(self.total))

    @wl.on(Total)
    def copy(self, ctx: wl.Context, src: wl.NodeId, msg: Total) -> None:
        self.total = max(self.total, msg.value)


@wl.safety
def all_that_came_was_seen_by_b(view: wl.View) -> bool:
    return bool(view.messages()) or view[B].total == view[A].total


@wl.safety
def nothing_is_sent_to_b_when_it_is_down(view: wl.View) -> bool:
    return view.is_up(B) or not view.messages(dst=B)


@wl.safety
def b_is_not_ahead(view: wl.View) -> bool:
    return bool(view[B].total <= view[A].total)


def system(*properties: Any, restarts: int = 0) -> wl.System:
    return wl.System(
        {A: Counter(), B: Counter(), C: Counter()},
        workload=[wl.script(A, [wl.invoke(Counter.add, 5)])],
        faults=wl.Faults(crashes=1, restarts=restarts, nodes=[B]),
        properties=list(properties),
        name="totals",
    )


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize(
    "known", [all_that_came_was_seen_by_b, nothing_is_sent_to_b_when_it_is_down]
)
def test_what_is_asked_at_rest_is_asked_when_a_node_is_gone(
    known: Any, engine: Literal["native", "python"]
):
    report = wl.check(system(known), engine=engine, traces=False)
    report.expect_violated(known.name)


def test_its_run_replays(tmp_path: Any):
    made = system(all_that_came_was_seen_by_b)
    report = wl.check(made, out=tmp_path / "rest.wl")
    (row,) = report.properties
    assert row.trace is not None
    assert wl.replay(row.trace, made).reproduced
    fewer = system(b_is_not_ahead, all_that_came_was_seen_by_b).replace(
        properties=[all_that_came_was_seen_by_b]
    )
    assert wl.replay(row.trace, fewer).reproduced


def test_where_no_property_can_tell_no_state_is_spent_on_it():
    plain, telling = system(b_is_not_ahead), system(all_that_came_was_seen_by_b)
    assert wl.check(plain, traces=False).states < explore(Oracle(telling)).distinct
    # Chosen among others, it still has the runs of the whole system.
    both = system(b_is_not_ahead, all_that_came_was_seen_by_b)
    some = both.replace(properties=[b_is_not_ahead])
    found = wl.check(some, traces=False).states
    assert found == explore(Oracle(telling)).distinct


def test_search_and_oracle_agree():
    made = system(b_is_not_ahead, nothing_is_sent_to_b_when_it_is_down)
    found = wl.check(made, traces=False, keep_going=True, liveness=False)
    assert found.states == explore(Oracle(made)).distinct


def test_it_is_told_as_an_assumption():
    whole = str(wl.check(system(b_is_not_ahead), traces=False))
    assert "never taken at a node that is down" in whole
    both = system(b_is_not_ahead, all_that_came_was_seen_by_b)
    some = wl.check(both, properties=["b_is_not_ahead"], traces=False)
    assert "lost at a node that is down" in str(some)


def at_rest(view: wl.View) -> bool:
    return not view.messages()


def helped(view: wl.View) -> bool:
    return at_rest(view)


@wl.node
class Judging(Counter):
    def is_at_rest(self, view: wl.View) -> bool:
        return not view.messages()


@wl.safety
def all_that_came_was_seen_as_a_node_says(view: wl.View) -> bool:
    return not view[A].is_at_rest(view) or view[B].total == view[A].total


def test_a_method_of_a_node_may_look():
    nodes = {A: Judging(), B: Counter(), C: Counter()}
    made = system().replace(
        nodes=nodes, properties=[all_that_came_was_seen_as_a_node_says]
    )
    wl.check(made, traces=False).expect_violated(
        "all_that_came_was_seen_as_a_node_says"
    )


REFUSED = wl.Observer(
    "refused",
    0,
    lambda step: 1 if step.event.kind is wl.Kind.REFUSE else None,
    lambda value, one: value + one,
)


@wl.safety
def nothing_is_refused(view: wl.View) -> bool:
    return bool(view.history("refused") == 0)


@pytest.mark.parametrize("restarts", [0, 1])
def test_an_observer_is_told_of_what_is_lost(restarts: int):
    made = system(nothing_is_refused, restarts=restarts).replace(observers=[REFUSED])
    (row,) = wl.check(made, traces=False).properties
    assert (row.verdict, row.steps) == (wl.Verdict.VIOLATED, 3)


def is_over(view: wl.View) -> bool:
    return not view.messages()


def test_what_was_lost_keeps_no_run_from_being_over():
    made = system(b_is_not_ahead).replace(done=is_over)
    assert made.shows_mail
    assert made.origin is None
    report = wl.check(made, deadlock=True, liveness=False, traces=False)
    assert report.verdict is wl.Verdict.HOLDS


@wl.safety
def less_than_three_are_sent(view: wl.View) -> bool:
    return bool(view[A].total < 3)


def one_at_most(view: wl.View) -> bool:
    return len(view.messages()) <= 1


def two_are_under_way(view: wl.View) -> bool:
    return len(view.messages()) >= 2


def twice_and_at_rest(view: wl.View) -> bool:
    return view[A].total == 2 and not view.messages()


@wl.node
class Sender:
    total: int = 0

    @wl.call
    def add(self, ctx: wl.Context) -> None:
        self.total += 1
        ctx.send(B, Total(self.total))

    @wl.on(Total)
    def copy(self, ctx: wl.Context, src: wl.NodeId, msg: Total) -> None:
        """Nothing."""


def to_nobody(*properties: Any, calls: int = 2) -> wl.System:
    """Return a system in which A sends some times to B, which is gone from the start."""
    return wl.System(
        {A: Sender(), B: Sender()},
        workload=[wl.script(A, [Sender.add] * calls)],
        prologue=[wl.events.crash(B)],
        properties=list(properties),
        name="nobody",
    )


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize(
    "left_out", [{"assume": one_at_most}, {"prune": two_are_under_way}]
)
def test_a_run_is_not_left_out_for_what_is_lost(
    left_out: Any, engine: Any, tmp_path: Path
):
    made = to_nobody(less_than_three_are_sent, calls=3)
    report = wl.check(made, engine=engine, out=tmp_path / "run.wl", **left_out)
    row = report.expect_violated("less_than_three_are_sent")
    assert row.steps == 4  # one is lost before the third is sent
    assert row.trace is not None
    again = wl.replay(row.trace, made)
    assert again.reproduced
    assert wl.minimize(row.trace, system=made).verdict is wl.Verdict.VIOLATED


@pytest.mark.parametrize(
    "search",
    [wl.check, functools.partial(wl.predict, faults="none"), wl.walk, wl.fuzz],
    ids=["check", "predict", "walk", "fuzz"],
)
def test_where_a_search_begins_may_be_at_rest(search: Any):
    made = to_nobody()
    report = search(made, until=[twice_and_at_rest], traces=False)
    assert report.bound != "until"
    assert "the first state where twice_and_at_rest is true, 4 steps on" in str(report)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--assume", "len([m for m in view.messages()]) <= 1", "after 4 steps"),
        ("--until", "view[a].total == 1 and not view.messages()", "2 steps on"),
    ],
)
def test_an_expression_may_look(
    option: str,
    text: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    Path("nobody.py").write_text(
        "from tests.model.test_mail_readers import *\n"
        "def system(): return to_nobody(less_than_three_are_sent, calls=3)\n",
        "utf-8",
    )
    found = run("check", "nobody.py", option, text, "--keep-going")
    assert found.status == 1, found
    assert said in found.out


class Called:
    def __call__(self, view: wl.View) -> bool:
        return not view.any_message(lambda message: True)


def enclosing(question: Any) -> Any:
    return lambda view: all(question(view) for _ in view)


def wrapped(question: Any) -> Any:
    @functools.wraps(question)
    def inner(*given: Any) -> Any:
        return question(*given)

    return inner


class Rules:
    @staticmethod
    def quiet(view: wl.View) -> bool:
        return not view.any_message(lambda message: True)


RULES, TABLE, HAS_MAIL = [at_rest], {"rest": at_rest}, operator.methodcaller("messages")
A_RULE, MESSAGES, AT_REST = Rules(), "mess" + "ages", wl.sometimes(at_rest)


def told(view: wl.View, *, rule: Any = at_rest) -> bool:
    return bool(rule(view))


@pytest.mark.parametrize(
    "function",
    [
        at_rest,
        helped,
        Called(),
        enclosing(helped),
        wrapped(at_rest),
        functools.partial(at_rest),
        lambda view: alike.__name__ != "" and not view.messages(),
        lambda view: [n for n in view if view.messages(dst=n)] == [],
        lambda view: all(rule(view) for rule in RULES),
        lambda view: not TABLE["rest"](view),
        lambda view: not Rules.quiet(view),
        lambda view: not A_RULE.quiet(view),
        lambda view: not AT_REST(view),
        lambda view: not HAS_MAIL(view),
        lambda view: getattr(view, MESSAGES)(),
        told,
    ],
    ids=[
        *["itself", "helped", "called", "enclosed", "wrapped", "partial", "by", "loop"],
        *["list", "table", "class", "object", "property", "caller", "getattr", "told"],
    ],
)
def test_readers_are_known_by_their_code(function: Any):
    assert read_messages([function])


class Endless:
    """Has whatever it is asked for, as stand-ins in tests do."""

    __slots__ = ("unset",)
    asked = 0

    def __getattr__(self, name: str) -> Endless:
        Endless.asked += 1
        assert Endless.asked < 100
        return Endless()


ENDLESS = Endless()


def test_what_makes_up_its_attributes_is_asked_for_none():
    Endless.asked = 0  # others have, as they looked at the module
    assert read_messages([lambda view: bool(ENDLESS.anything)])
    assert not Endless.asked


@pytest.mark.parametrize("imports", ["", "import worldline"])
def test_an_installed_package_may_ask(
    imports: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    name = f"rules_{'of_ours' if imports else 'of_theirs'}"
    place = tmp_path / "site-packages" / name
    place.mkdir(parents=True)
    asks = "def at_rest(view):\n    return not view.messages()\n"
    says = "def is_even(number):\n    return number % 2 == 0\n"
    (place / "__init__.py").write_text(f"{imports}\n{asks}{says}")
    monkeypatch.syspath_prepend(place.parent)
    rules = importlib.import_module(name)
    assert read_messages([lambda view: rules.at_rest(view)])  # noqa: PLW0108
    # What is not read may ask for anything.
    assert read_messages([lambda view: rules.is_even(2)]) is not bool(imports)


def test_others_are_no_readers():
    assert not read_messages([b_is_not_ahead.predicate, lambda view: view.is_up(A)])
