"""The purity audit: what users write is run again, and with sets in other orders.

Sets here hold a few words, so that they iterate in another order for each hash seed; and
what is asserted holds for every one.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import random
import types
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import pytest

import worldline as wl
from worldline.loading.loader import load
from worldline.worlds.purity import again

WORDS = ("heron", "ibis", "coot")
GLOBAL = frozenset(WORDS)
DRAWN: list[int] = []

(A,) = wl.ids("a")


def first(words: Any) -> Any:
    return next(iter(words))


@dataclasses.dataclass
class Held:
    words: Any
    tags: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True, slots=True)
class Sealed:
    words: Any


class Words(enum.Enum):
    BIRDS = frozenset(WORDS)


class Pair(NamedTuple):
    words: Any
    number: int


class Attributed:
    WORDS = frozenset(WORDS)
    NESTED: ClassVar[Any] = {"here": [{*WORDS}]}


def defaulted(words: Any = frozenset(WORDS), *, more: Any = frozenset(WORDS)) -> Any:
    return first(words), first(more)


def _collected() -> Any:
    birds = collections.defaultdict(set)
    for word in WORDS:
        birds["all"].add(word)
    return first(birds["all"])


def _tagged() -> Any:
    made = Held(())
    made.tags.update(WORDS)
    return first(made.tags)


def _anded(words: Any) -> Any:
    words &= {"heron", "ibis", "coot"}
    return first(words)


def _looped() -> Any:
    last = ""
    for word in {"heron", "ibis", "coot"}:
        last = word
    return last


def _stopped(node: Any) -> Any:
    for node.kept in {"heron", "ibis", "coot"}:
        break
    return node.kept


@functools.cache
def _table() -> Any:
    return {"here": {*WORDS}}


_table()
BY_NAME: Any = {"here": {*WORDS}, "deeper": {"there": [0, ({*WORDS}, 1)]}}
LISTED: Any = ["red", {*WORDS}]
KEYED: Any = {frozenset(WORDS): 1}
QUEUED: Any = collections.deque([{*WORDS}])
HOLDING: Any = Held({*WORDS})
SEALED: Any = Sealed([{*WORDS}])
PAIR: Any = Pair({*WORDS}, 1)
PARTIAL = functools.partial(first, frozenset(WORDS))
MAPPED: Any = types.MappingProxyType({"here": {*WORDS}})
FACTORY: Any = collections.defaultdict(set)
INNER = types.ModuleType("inner")
INNER.__file__ = __file__
INNER.WORDS = {"here": {*WORDS}}  # type: ignore[attr-defined]


def drawn(count: int) -> int:
    DRAWN.append(count)
    return count


def _popped(node: Any) -> Any:
    words = {"heron", "ibis", *WORDS}
    return words.pop()


def _viewed(node: Any) -> Any:
    return first(dict.fromkeys(WORDS).keys() & {"heron", "ibis", "coot"})


def _kept_order(node: Any) -> Any:
    words = []
    for word in set(WORDS):
        words.append(word)  # noqa: PERF402 - a loop is what is tested
    return tuple(words)


def _keyed(node: Any) -> Any:
    return next(iter({word: 1 for word in set(WORDS)}))  # noqa: C420


IMPURE: dict[str, Callable[[Any], Any]] = {
    "a display": lambda node: first({"heron", "ibis", "coot"}),
    "a comprehension": lambda node: first({word.upper() for word in WORDS}),
    "a call of set": lambda node: first(set(WORDS)),
    "a call of frozenset": lambda node: first(frozenset(WORDS)),
    "a global": lambda node: first(GLOBAL),
    "an operator": lambda node: first({*WORDS} | {"teal"}),
    "a method": lambda node: first({*WORDS}.union({"teal"})),
    "a method of the type": lambda node: first(set.union({"a"}, {"b"}, {"c"})),
    "a view of a dict": _viewed,
    "pop": _popped,
    "a loop": _kept_order,
    "the order of a dict": _keyed,
    "a list": lambda node: [*{*WORDS}][0],  # noqa: RUF015
    "unpacking": lambda node: [*set(WORDS), ""][:2],
    "text": lambda node: f"{ {*WORDS} }",
    "a tie": lambda node: max({*WORDS}, key=lambda word: 0),
    "hash": lambda node: hash("heron"),
    "id": lambda node: id(node) + 0,
    "a display of constants, in a loop": lambda node: _looped(),
    "one that is unpacked into a field": _stopped,
    "one in a comprehension": lambda node: [w for w in {"heron", "ibis", "coot"}][0],  # noqa: C416, RUF015
    "one in a generator": lambda node: next(w for w in {"heron", "ibis", "coot"}),
    "in a dict": lambda node: first(BY_NAME["here"]),
    "deep inside": lambda node: first(BY_NAME["deeper"]["there"][1][0]),
    "in a list": lambda node: first(LISTED[1]),
    "in a deque": lambda node: first(QUEUED[0]),
    "as a key": lambda node: first(first(KEYED)),
    "in an instance": lambda node: first(HOLDING.words),
    "in a slot": lambda node: first(SEALED.words[0]),
    "in a named tuple": lambda node: first(PAIR.words),
    "in an enum": lambda node: first(Words.BIRDS.value),
    "in a partial": lambda node: PARTIAL(),
    "in a view of a mapping": lambda node: first(MAPPED["here"]),
    "in a cache": lambda node: first(_table()["here"]),
    "in a module": lambda node: first(INNER.WORDS["here"]),
    "in a class": lambda node: first(Attributed.WORDS),
    "deep in a class": lambda node: first(Attributed.NESTED["here"][0]),
    "in a default": lambda node: defaulted(),
    "in a closure": (lambda words: lambda node: first(words[0]))([{*WORDS}]),
    "among the globals": lambda node: first(globals()["BY_" + "NAME"]["here"]),
    "among an instance's": lambda node: first(vars(HOLDING)["words"]),
    "text of a container": lambda node: str(BY_NAME),
    "a library's function": lambda node: list(itertools.chain(*BY_NAME.values()))[:1],
    "made by a factory": lambda node: _collected(),
    "made by a record": lambda node: _tagged(),
    "an operator that assigns": lambda node: _anded(dict.fromkeys(WORDS).keys()),
}

PURE: dict[str, Callable[[Any], Any]] = {
    "sorted": lambda node: first(sorted({*WORDS})),
    "a field": lambda node: first(node.words),
    "a field's operator": lambda node: first(node.words | {"teal"}),
    "an operator on a field": lambda node: first({"teal"} | node.words),
    "a set and a field": lambda node: first({*WORDS} - node.words),
    "the size": lambda node: len({word[0] for word in WORDS}),
    "membership": lambda node: "heron" in {*WORDS} and all(w in GLOBAL for w in WORDS),
    "a set that is stored": lambda node: tuple(
        sorted(node.store({word for word in WORDS if word}))
    ),
    "the type": lambda node: isinstance({*WORDS}, set) and not isinstance(3, frozenset),
    "one element": lambda node: first({"heron"}),
    "a local called id": lambda node: (lambda id: id + 1)(3),  # noqa: A006
    "a set of numbers": lambda node: first({31, 64, 7}),
    "a set of nodes and numbers": lambda node: first({(A, 1), (A, 2), (A, 9)}),
    "the hash of a number": lambda node: hash(7),
    "membership among constants": lambda node: "heron" in {"heron", "ibis", "coot"},
    "sorted from a dict": lambda node: tuple(sorted(BY_NAME["here"])),
    "found by a key": lambda node: KEYED[frozenset(WORDS)] + len(FACTORY["none"]),
}


def holder(compute: Callable[[Any], Any]) -> Any:
    """Return a node class whose handler keeps what is computed."""

    @wl.node
    class Holder:
        words: set[str] = wl.field(default_factory=lambda: {"ruff", "knot", "rail"})
        kept: Any = None

        def store(self, words: set[str]) -> set[str]:
            self.words = words
            return self.words

        @wl.call
        def compute(self, ctx: wl.Context) -> None:
            self.kept = compute(self)

    return Holder


def system(cls: Any, **options: Any) -> wl.System:
    return wl.System(
        {A: cls()}, workload=[wl.script(A, [wl.invoke(cls.compute)])], **options
    )


@pytest.mark.parametrize("what", IMPURE)
def test_a_handler_that_depends_on_the_order_of_a_set_is_a_model_error(what: str):
    with pytest.raises(wl.Nondeterminism, match="is not deterministic") as caught:
        wl.check(system(holder(IMPURE[what])))
    assert "the handler of call at a compute, which looks at the order" in str(
        caught.value
    )
    assert "test_purity.py:" in str(caught.value)


@pytest.mark.parametrize("what", PURE)
def test_a_handler_that_uses_a_set_without_its_order_is_none(what: str):
    report = wl.check(system(holder(PURE[what])), traces=False)
    report.expect_holds()
    assert not any("not audited" in note for note in report.notes)


def test_the_error_names_the_line_that_matters_and_not_the_one_that_does_not():
    def compute(node: Any) -> Any:
        total = sum(len(word) for word in {*WORDS})
        return total, first(  # the line below is not where a set is looked at
            {"heron", "ibis"}
        )

    with pytest.raises(wl.Nondeterminism, match="in first") as caught:
        wl.check(system(holder(compute)))
    assert "in compute" not in str(caught.value).partition("not deterministic")[0]


@pytest.mark.parametrize("what", ["in a dict", "as a key", "in a partial"])
def test_what_holds_sets_is_as_it_was_after_an_audit(what: str):
    def held() -> list[Any]:
        inner = [BY_NAME["here"], LISTED[1], QUEUED[0], HOLDING.words, SEALED.words[0]]
        inner += [first(KEYED), PAIR.words, PARTIAL.args[0], Attributed.WORDS]
        return [*map(type, inner), *map(id, inner), FACTORY.default_factory]

    before = held()
    with pytest.raises(wl.Nondeterminism):
        wl.check(system(holder(IMPURE[what])))
    assert held() == before


def test_what_is_done_again_is_put_into_words_only_where_it_differs(
    monkeypatch: pytest.MonkeyPatch,
):
    def never(value: object) -> str:
        raise AssertionError(value)

    monkeypatch.setattr(again, "spelt", never)
    assert wl.check("zoo:toy").verdict is wl.Verdict.HOLDS


def test_functions_are_as_they_were_after_an_audit():
    compute = IMPURE["a global"]
    before = compute.__code__, dict(globals())
    with pytest.raises(wl.Nondeterminism):
        wl.check(system(holder(compute)))
    assert (compute.__code__, dict(globals())) == before


def test_a_handler_whose_source_is_not_at_hand_is_said_not_to_be_audited():
    space: dict[str, Any] = {}
    exec("def compute(node): return next(iter({'a', 'b'}))", space)
    report = wl.check(system(holder(space["compute"])), traces=False)
    (note,) = [note for note in report.notes if "not audited" in note]
    assert note == "not audited for hash order, without source: compute"


def test_methods_that_a_library_generates_are_not_said_to_lack_their_source():
    @dataclasses.dataclass(frozen=True)
    class Named:
        id: str
        set: frozenset[str]

    cls = holder(
        lambda node: (Named("a", frozenset()).id, Pair({*()}, 2).number, hash(3))
    )
    report = wl.check(system(cls), traces=False)
    assert not any("not audited" in note for note in report.notes)


def test_a_set_that_cannot_be_replaced_is_said_not_to_be_audited():
    words = iter([1])
    held = itertools.repeat({*WORDS})
    cls = holder(lambda node: (str(words)[:1], len(next(held))))
    report = wl.check(system(cls), traces=False)
    (note,) = [note for note in report.notes if "not audited" in note]
    assert note.startswith("not audited for hash order, held where no set can be")


def test_a_class_made_of_set_is_said_not_to_be_audited():
    class Bag(set[str]):
        pass

    report = wl.check(system(holder(lambda node: len(Bag(WORDS)))), traces=False)
    assert any("Bag" in note for note in report.notes if "not audited" in note)


# Alone in its file: elsewhere, something else makes the audit look at orders.
ALONE = """
import worldline as wl
(A,) = wl.ids("a")
{before}
@wl.node
class One:
    kept: object = None
    @wl.call
    def go(self, ctx):
{handler}
@wl.safety
def judged(view):
    {judged}
def system():
    return wl.System({{A: One()}}, workload=[wl.script(A, [One.go])], properties=[judged])
"""
FRUIT = '{"apple", "pear", "plum", "fig"}'
BEFORE = """
import functools
W = [FRUIT]
def given(s=FRUIT): return next(iter(s))
TABLE = {"pick": [lambda: next(w for w in FRUIT)]}
class Picker:
    def __init__(self, pick): self.pick = pick
    @functools.cached_property
    def word(self): return next(w for w in FRUIT)
PICKER = Picker(lambda: next(w for w in FRUIT))
@functools.lru_cache
def cached(): return [w for w in FRUIT][0]
@functools.singledispatch
def typed(x): return 1
@typed.register(int)
def _(x): return [w for w in FRUIT][0]
class Static:
    @staticmethod
    def pick(s=FRUIT): return [*s][0]
"""
LINES = {
    "a loop": f"for w in {FRUIT}: self.kept = w",
    "a comprehension": f"self.kept = [w for w in {FRUIT}][0]",
    "a generator": f"self.kept = next(w for w in {FRUIT})",
    "a target": f"for self.kept in {FRUIT}: break",
    "a global": "self.kept = [*W[0]][0]",
    "a default": "self.kept = given()",
    "a function in a dict": "self.kept = TABLE['pick'][0]()",
    "a function in an instance": "self.kept = PICKER.pick()",
    "a function that is cached": "self.kept = cached()",
    "a function for types": "self.kept = typed(1)",
    "a static method": "self.kept = Static.pick()",
    "a cached property": "self.kept = Picker(None).word",
}


def alone(tmp_path: Any, line: str, judged: str = "return True") -> wl.System:
    before = BEFORE.replace("FRUIT", FRUIT)
    file = tmp_path / "alone.py"
    handler = f"        {line}"
    file.write_text(
        ALONE.format(before=before, handler=handler, judged=judged), "utf-8"
    )
    return load(str(file), {})


@pytest.mark.parametrize("line", LINES)
def test_a_handler_that_alone_looks_at_an_order_is_a_model_error(
    tmp_path: Any, line: str
):
    with pytest.raises(wl.Nondeterminism, match=r"alone\.py:\d+ in "):
        wl.check(alone(tmp_path, LINES[line]), traces=False)


@pytest.mark.parametrize("search", [wl.check, wl.find_faults])
@pytest.mark.parametrize(
    "looked", ["[*W[0]][0]", "given()", f"[w for w in {FRUIT}][0]"]
)
def test_a_property_that_alone_looks_at_an_order_is_a_model_error(
    tmp_path: Any, search: Any, looked: str
):
    judged = f"return view[A].kept is None or {looked} != 'quince'"
    found = alone(tmp_path, "self.kept = 1", judged.replace("!= 'quince'", "< 'q'"))
    search(found, traces=False).expect_holds()
    judged = f"return view[A].kept is None or {looked} == 'apple'"
    with pytest.raises(wl.Nondeterminism, match="looks at the order"):
        search(alone(tmp_path, "self.kept = 1", judged), traces=False)


# ---------------------------------------------------------------- beside the handlers


def counting() -> Any:
    """Return a system of three states and more, without any impurity."""

    @wl.node
    class Counter:
        count: int = 0
        words: set[str] = wl.field(default_factory=lambda: set(WORDS))
        log: list[int] = wl.field(default_factory=list)

        @wl.call
        def compute(self, ctx: wl.Context) -> None:
            self.count += 1
            self.log.append(self.count)

    return Counter


def long(cls: Any, **options: Any) -> wl.System:
    calls = [wl.invoke(cls.compute)] * 6
    return wl.System({A: cls()}, workload=[wl.script(A, calls)], **options)


def _random() -> Callable[[wl.View], bool]:
    rng = random.Random(4)
    return lambda view: rng.random() < 0.7 or view[A].count < 0


def _counter() -> Callable[[wl.View], bool]:
    seen: list[int] = []

    def predicate(view: wl.View) -> bool:
        seen.append(view[A].count)
        return len(seen) < 9

    return predicate


def _order() -> Callable[[wl.View], bool]:
    return lambda view: first({*WORDS, str(view[A].count)}) == "heron"


IMPURE_PREDICATES = {"random": _random, "a counter": _counter, "order": _order}


@pytest.mark.parametrize("kind", [wl.safety, wl.sometimes, wl.liveness])
@pytest.mark.parametrize("what", IMPURE_PREDICATES)
def test_a_property_that_is_not_pure_is_a_model_error(kind: Any, what: str):
    known = kind(IMPURE_PREDICATES[what]())
    with pytest.raises(wl.Nondeterminism, match=f"property {known.name}"):
        wl.check(long(counting(), properties=[known]), keep_going=True, traces=False)


@pytest.mark.parametrize("what", IMPURE_PREDICATES)
@pytest.mark.parametrize("role", ["done", "prune", "assume", "until"])
def test_every_other_predicate_is_audited_too(what: str, role: str):
    predicate = IMPURE_PREDICATES[what]()
    options: dict[str, Any] = {role: predicate}
    system = long(counting())
    if role == "done":
        system, options = long(counting(), done=predicate), {"deadlock": True}
    if role == "until":
        options = {"until": [predicate]}
    with pytest.raises(wl.Nondeterminism):
        wl.check(system, traces=False, keep_going=True, **options)


def test_an_element_of_a_for_each_form_is_audited():
    @wl.safety
    def known(view: wl.View) -> bool:
        return view.for_each_node(
            lambda view, node: (*DRAWN, drawn(view[node].count))[9:] == ()
        )

    DRAWN.clear()
    with pytest.raises(wl.ModelError):
        wl.check(long(counting(), properties=[known]), keep_going=True, traces=False)


@pytest.mark.parametrize("field", ["log", "words"])
def test_a_property_that_changes_what_it_is_given_is_a_model_error(field: str):
    @wl.safety
    def known(view: wl.View) -> bool:
        getattr(view[A], field).clear()
        return True

    with pytest.raises(wl.ModelError, match=f"property known changes a.{field}"):
        wl.check(long(counting(), properties=[known]), traces=False)


@pytest.mark.parametrize("part", ["project", "fold"])
@pytest.mark.parametrize("impurity", ["a counter", "order"])
def test_an_observer_that_is_not_pure_is_a_model_error(part: str, impurity: str):
    seen: list[int] = []

    def impure() -> Any:
        seen.append(1)
        return len(seen) if impurity == "a counter" else first({*WORDS})

    observer = wl.Observer(
        "words",
        (),
        lambda step: impure() if part == "project" else 1,
        lambda value, new: (impure() if part == "fold" else new,),
    )
    with pytest.raises(wl.Nondeterminism):
        wl.check(long(counting(), observers=[observer]), traces=False)


def test_a_guard_that_is_not_pure_is_a_model_error():
    asked: list[int] = []

    def guard(node: Any) -> bool:
        asked.append(1)
        return len(asked) < 4

    @wl.node
    class Guarded:
        count: int = 0

        @wl.call(when=guard)
        def compute(self, ctx: wl.Context) -> None:
            self.count += 1

    with pytest.raises(wl.Nondeterminism, match="the handler of call at a compute"):
        wl.check(long(Guarded), traces=False)


def test_a_guard_that_depends_on_the_order_of_a_set_is_a_model_error():
    @wl.node
    class Guarded:
        count: int = 0

        @wl.call(when=lambda self: first({*WORDS}) == "heron")
        def compute(self, ctx: wl.Context) -> None:
            self.count += 1

    with pytest.raises(wl.Nondeterminism, match="looks at the order"):
        wl.check(long(Guarded), traces=False)


def test_a_start_handler_is_audited():
    @wl.node
    class Starting:
        word: str = ""

        @wl.start
        def start(self, ctx: wl.Context) -> None:
            self.word = first({*WORDS})

        @wl.call
        def compute(self, ctx: wl.Context) -> None:
            pass

    with pytest.raises(wl.Nondeterminism, match="the start of a"):
        wl.check(long(Starting), traces=False)


def test_a_handler_that_fails_when_it_is_run_again_is_a_model_error():
    runs: list[int] = []

    def compute(node: Any) -> int:
        runs.append(1)
        return 1 // (len(runs) < 2)

    with pytest.raises(wl.Nondeterminism, match="failed with ZeroDivisionError"):
        wl.check(system(holder(compute)))


def test_a_handler_that_asks_the_state_is_audited():
    runs: list[int] = []

    @wl.message
    class Word:
        text: str

    @wl.ignores(Word)
    @wl.node
    class Sender:
        @wl.call
        def compute(self, ctx: wl.Context) -> None:
            runs.append(1)
            ctx.send(A, Word(str(len(runs))))

    streams = wl.streams(buffer=2)
    with pytest.raises(wl.Nondeterminism, match="the handler of call at a compute"):
        wl.check(long(Sender, network=streams), traces=False, max_depth=3)


def test_a_late_and_seldom_state_is_in_the_sample():
    """One of some thousand states, of the last to be met, by one of many handlers."""
    runs: list[int] = []

    @wl.node
    class Rare:
        here: int = 0
        there: int = 0

        @wl.call
        def step(self, ctx: wl.Context) -> None:
            self.here += 1
            if (self.here, self.there) == (40, 40):
                runs.append(1)
                self.here += len(runs)

        @wl.call
        def other(self, ctx: wl.Context) -> None:
            self.there += 1

    limit = 40
    system = wl.System(
        {A: Rare()},
        workload=[
            wl.whenever(Rare.step, when=lambda self: self.here < limit),
            wl.whenever(Rare.other, when=lambda self: self.there < limit),
        ],
    )
    with pytest.raises(wl.Nondeterminism, match="the handler of call at a step"):
        wl.check(system, traces=False)


def test_a_walk_is_audited_as_a_search_is():
    @wl.liveness
    def live(view: wl.View) -> bool:
        return bool(view[A].kept)

    with pytest.raises(wl.Nondeterminism, match="looks at the order"):
        wl.walk(
            system(holder(IMPURE["a display"]), properties=[live]),
            depth=3,
            max_steps=20,
            traces=False,
        )


def test_a_file_that_was_written_anew_is_audited_as_it_is_now(tmp_path: Any):
    source = (
        "import worldline as wl\n(A,) = wl.ids('a')\n"
        "@wl.node\nclass One:\n    kept: str = ''\n    @wl.call\n"
        "    def go(self, ctx):\n        self.kept = {}({{'x', 'y', 'z'}})\n"
        "def system():\n"
        "    return wl.System({{A: One()}}, workload=[wl.script(A, [One.go])])\n"
    )
    file = tmp_path / "anew.py"
    file.write_text(source.format("min"), "utf-8")
    wl.check(load(str(file), {}), traces=False).expect_holds()
    file.write_text("# longer\n" + source.format("*_, self.kept = list"), "utf-8")
    with pytest.raises(wl.Nondeterminism, match=r"anew\.py:9 in go"):
        wl.check(load(str(file), {}), traces=False)
