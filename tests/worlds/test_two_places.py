"""What a handler puts into two places of its node is two things for the next one, everywhere."""

from __future__ import annotations

import asyncio
import copy
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.parting import settle_fields
from worldline.model.node import node_type
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read
from worldline.worlds.undoing import Before

(A,) = wl.ids("a")


@dataclass
class Entry:
    """A record that can change."""

    words: list[int]
    next: Entry | None = None


@wl.node
class Inner:
    """A part."""

    lists: list[list[int]] = wl.field(default_factory=list)


@wl.node
class Shelf:
    """A node whose handlers put what it holds into other places of it."""

    inner: Inner = wl.part()
    words: list[int] = wl.durable(default_factory=list)
    lists: list[list[int]] = wl.durable(default_factory=list)
    pair: tuple[list[int], ...] = wl.field(default=())
    entry: Entry | None = wl.durable(default=None)
    entries: list[Entry] = wl.field(default_factory=list)
    by_number: dict[int, list[int]] = wl.field(default_factory=dict)
    ended: bool = False

    @wl.call
    def do(self, ctx: wl.Context | None, way: int, number: int) -> list[list[int]]:
        """Put something somewhere, or change it, and return what can be changed."""
        lists, entry = self.lists, self.entry
        some = lists[number % len(lists)] if lists else self.words
        if way == 0:
            lists.append(self.words)
        elif way == 1:
            self.pair = (*self.pair[-1:], some)
        elif way == 2:
            self.entry = Entry(some, self.entries[-1] if self.entries else None)
        elif way == 3 and entry is not None:
            self.entries.append(entry)
        elif way == 4:
            self.by_number[number] = some
        elif way == 5:
            self.inner.lists.append(some)
        elif way == 6 and self.by_number:
            lists.append(self.by_number[min(self.by_number)])
        elif way == 7 and entry is not None:
            entry.words.append(number)
            del entry.words[:-3]
        elif way == 8 and self.pair:
            self.pair[-1].append(number)
        else:
            some.append(number)
            self.words.append(number)
        del lists[:-4], self.entries[:-3], self.inner.lists[:-3]
        return lists

    @wl.call
    def end(self, ctx: wl.Context) -> None:
        self.ended = True


WAYS = 10
SCRIPTS = st.lists(st.tuples(st.integers(0, WAYS - 1), st.integers(0, 5)), max_size=14)


def frozen_between(script: list[tuple[int, int]]) -> Any:
    """Return what a node is if it is frozen between handlers, as in searches."""
    kind, first = node_type(Shelf), Shelf(Inner())
    frozen = kind.freeze(first)
    for way, number in script:
        node = kind.thaw(frozen, first)
        node.do(None, way, number)
        frozen = kind.freeze(node)
    return frozen


@settings(max_examples=60)
@given(SCRIPTS, st.integers())
def test_a_node_that_lives_on_is_as_if_it_were_frozen(
    script: list[tuple[int, int]], seed: int
):
    kind, rng = node_type(Shelf), random.Random(seed)
    live, kept = Shelf(Inner()), Shelf(Inner())
    before = Before(kind, kept)
    for count, (way, number) in enumerate(script, 1):
        live.do(None, way, number)
        settle_fields(live.__dict__)
        kept.do(None, *rng.choice(script))  # which is undone
        before.changes()
        before.put_back(kept)
        kept.do(None, way, number)
        before.renew(before.changes())
        expected = frozen_between(script[:count])
        assert kind.freeze(live) == expected
        assert kind.freeze(kept) == expected


@wl.safety
def goes_on(view: wl.View) -> bool:
    return not view[A].ended


def shelves(script: list[tuple[int, int]]) -> wl.System:
    calls = [wl.invoke(Shelf.do, *drawn) for drawn in script]
    return wl.System(
        {A: Shelf(Inner())},
        workload=[wl.script(A, [*calls, wl.invoke(Shelf.end)])],
        properties=[goes_on],
        name="shelves",
    )


def random_script(seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    return [(rng.randrange(WAYS), rng.randrange(6)) for _ in range(12)]


@pytest.mark.parametrize("seed", range(4))
def test_searches_and_simulations_end_in_the_same_state(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    system = shelves(random_script(seed))
    ways = {
        "check": lambda: wl.check(system, out=tmp_path / "check.wl"),
        "plain": lambda: wl.check(system, engine="python", out=tmp_path / "plain.wl"),
        "simulate": lambda: wl.simulate(system, out=tmp_path / "simulate.wl"),
        "walk": lambda: wl.walk(system, out=tmp_path / "walk.wl"),
    }
    ends = {}
    for name, way in ways.items():
        way().expect_violated("goes_on")
        ends[name] = read(tmp_path / f"{name}.wl").end
    assert all(end == ends["check"] for end in ends.values())


@pytest.mark.parametrize("seed", range(2))
def test_hosts_end_in_that_state_and_their_recordings_replay(seed: int, tmp_path: Path):
    system = shelves(random_script(seed)).replace(workload=[], open_workload=True)
    answers: list[Any] = []

    async def main() -> Any:
        async with asyncio.timeout(20), wl.Host(system, record=tmp_path) as host:
            for drawn in random_script(seed):
                answer = await host.call(A, Shelf.do, *drawn)
                answers.append((answer, copy.deepcopy(answer)))
            return copy.deepcopy(host.state(A).lists)

    expected = frozen_between(random_script(seed))
    kind = node_type(Shelf)
    lists = kind.thaw(expected, Shelf(Inner())).lists
    assert asyncio.run(main()) == lists
    assert all(answer == then for answer, then in answers)
    assert replay_recording(tmp_path, system).divergence is None
