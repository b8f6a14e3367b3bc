"""What properties look at is never too little, however their code comes to look at it."""

# How the code is written is what is tested.
# ruff: noqa: PLW0108, UP030, UP032

import functools
import importlib
import operator
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.steer import watching_elsewhere as elsewhere

import worldline as wl
from worldline.loading.opening import open_system
from worldline.steer.watched import watched_by

A, B = wl.ids("a", "b")
READ = operator.attrgetter("total")
CALLED = elsewhere.Asked()
TABLE = {"total": lambda node: node.total}
LISTED = [lambda node: node.total]
SPACE = types.SimpleNamespace(read=lambda node: node.total)
ASK = getattr
FORMATTED = str.format
KEPT_FORMAT = "{0.total}".format
FORMAT = "{.total}"
MADE_UP = "".join(map(chr, b"total"))


class Shared:
    @staticmethod
    def agreed(view: wl.View) -> bool:
        return all(view[node].total < 3 for node in view.nodes)

    @classmethod
    def agreed_here(cls, view: wl.View) -> bool:
        return all(view[node].total < 3 for node in view.nodes)

    def grown(self: Any) -> Any:
        return self.total


@wl.node
class Counter(Shared):
    total: int = 0
    other: int = 0

    @wl.call
    def add(self, ctx: wl.Context) -> None:
        self.total += 1

    @functools.lru_cache  # noqa: B019 - only read
    def kept(self) -> int:
        return self.total


class Held:
    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read

    def agreed(self, view: wl.View) -> bool:
        return all(self.read(view[node]) < 3 for node in view.nodes)


class Decorated(Held):
    def __call__(self, node: Any) -> Any:
        return self.read(node)


HELD = Held(lambda node: node.total)


@Decorated
def decorated(node: Any) -> Any:
    return node.total


@functools.cache
def cached(node: Any) -> Any:
    return node.total


@functools.singledispatch
def dispatched(node: Any) -> Any:
    return node.total


def by_keyword(
    node: Any, *, read: Callable[[Any], Any] = lambda node: node.total
) -> Any:
    return read(node)


def matched(node: Any) -> Any:
    match node:
        case object(total=total):
            return total
        case _:
            return 0


def imported_late(view: wl.View) -> bool:
    from tests.steer.watching_elsewhere import Tool

    return Tool.small(view)


def in_closure() -> Callable[[wl.View], bool]:
    reads = [lambda node: node.total]
    return lambda view: all(reads[0](view[node]) < 3 for node in view.nodes)


def of_each(read: Callable[[Any], Any]) -> Callable[[wl.View], bool]:
    return lambda view: all(read(view[node]) < 3 for node in view.nodes)


def by_default(
    view: wl.View, reads: tuple[Any, ...] = (lambda node: node.total,)
) -> bool:
    return all(reads[0](view[node]) < 3 for node in view.nodes)


# What is tested is how a property comes to a field.
# ruff: noqa: PLW0108, UP030, UP032
PREDICATES: dict[str, Callable[[wl.View], bool]] = {
    "a function of a module": of_each(lambda node: elsewhere.total_of(node)),
    "a static method of a class": lambda view: elsewhere.Tool.small(view),
    "an object that is called": lambda view: CALLED(view),
    "attrgetter": of_each(lambda node: READ(node)),
    "a dict of functions": of_each(lambda node: TABLE["total"](node)),
    "a list of functions": of_each(lambda node: LISTED[0](node)),
    "a namespace": of_each(lambda node: SPACE.read(node)),
    "a static method of a node": lambda view: Counter.agreed(view),
    "a class method of a node": lambda view: Counter.agreed_here(view),
    "an inherited method": of_each(lambda node: node.grown()),
    "a method of a node that is cached": of_each(lambda node: node.kept()),
    "a method of an object": lambda view: HELD.agreed(view),
    "a decorator that is a class": of_each(lambda node: decorated(node)),
    "a cached function": of_each(lambda node: cached(node)),
    "a generic function": of_each(lambda node: dispatched(node)),
    "a default by keyword": of_each(by_keyword),
    "a default in a tuple": by_default,
    "a pattern": of_each(matched),
    "an import in a function": imported_late,
    "a list in a closure": in_closure(),
    "getattr by another name": of_each(lambda node: ASK(node, MADE_UP)),
    "a format": of_each(lambda node: int("{0.total}".format(node))),
    "a format in a format": of_each(lambda node: int("{0:{1.total}}".format(4, node))),
    "a format that is made": of_each(lambda node: int(("{." + "total}").format(node))),
    "a format elsewhere": of_each(lambda node: int(FORMAT.format(node))),
    "a format by keyword": of_each(
        lambda node: int("{n.total}".format_map({"n": node}))
    ),
    "format by another name": of_each(lambda node: int(FORMATTED("{0.total}", node))),
    "a format that is kept": of_each(lambda node: int(KEPT_FORMAT(node))),
    "__getattr__": of_each(lambda node: node.__getattr__(MADE_UP)),
    "partial": functools.partial(lambda read, view: of_each(read)(view), READ),
}


def counters(predicate: Callable[[wl.View], bool]) -> wl.System:
    prop = wl.Property("small", wl.PropertyKind.SAFETY, predicate)
    script = wl.script(A, [wl.invoke(Counter.add)] * 4)
    return wl.System(
        {A: Counter(), B: Counter()},
        workload=[script],
        properties=[prop],
        name="counters",
    )


@pytest.mark.parametrize("name", PREDICATES)
def test_a_field_that_decides_is_watched(name: str) -> None:
    system = counters(PREDICATES[name])
    report = wl.check(system, traces=False)
    assert report.verdict is wl.Verdict.VIOLATED, "it does not depend on the field"
    assert watched_by(system).has("total")


def test_what_no_property_names_is_not_watched() -> None:
    watched = watched_by(counters(of_each(lambda node: elsewhere.total_of(node))))
    assert watched.fields == frozenset({"total"})
    assert not watched.timers
    assert not watched.calls


@pytest.mark.parametrize(
    "predicate",
    [
        lambda its: of_each(lambda node: its.total_of(node)),
        lambda its: its.Tool.small,
        lambda its: of_each(lambda node: its.Tool().total(node)),
        lambda its: its.Asked(),
    ],
    ids=["a function", "of a class", "a method", "an object"],
)
def test_a_module_of_the_users_with_the_name_of_one_of_pythons_is_read(
    predicate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(elsewhere.__file__).read_text("utf-8")
    source += "\nTool.total = lambda self, node: node.total\n"
    (tmp_path / "profile.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "profile", raising=False)
    its = importlib.import_module("profile")
    try:
        assert watched_by(counters(predicate(its))).has("total")
    finally:
        del sys.modules["profile"]


@pytest.mark.parametrize("name", ["paxos", "chord", "randtree", "raft"])
def test_of_the_zoo_not_all_is_watched(name: str) -> None:
    system = open_system(f"zoo:{name}", {})
    watched = watched_by(system)
    assert watched.fields is not None
    assert watched.fields < {role for kind in system.types for role in kind.roles}


def test_which_calls_are_still_to_come_is_watched() -> None:
    assert watched_by(counters(lambda view: not view.is_finished(A))).calls


def test_a_property_that_is_no_function_is_told_of() -> None:
    made = wl.safety(functools.partial(lambda read, view: read(view[A]) < 3, READ))
    report = wl.check(
        wl.System(
            {A: Counter()},
            workload=[wl.script(A, [wl.invoke(Counter.add)] * 4)],
            properties=[made],
            name="partly",
        ),
        traces=False,
    )
    assert report.verdict is wl.Verdict.VIOLATED
    assert "a.total was 3" in str(report)
