"""Who hears of a change through others takes a checkpoint from before it for old."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.steer import locking, relaying

import worldline as wl
from worldline.steer.changes import HeardChanges
from worldline.steer.snapshots.channels import NUMBER
from worldline.steer.unchanged import SINCE

A, B, C = range(3)


def of(number: int, life: int = 1) -> tuple[int, int]:
    return life, number


def heard(me: int, *heard_from: tuple[int, int, dict[int, int]]) -> HeardChanges:
    changes = HeardChanges(me, 3)
    for peer, life, numbers in heard_from:
        changes.hear(peer, life, numbers)
    return changes


def test_a_change_is_passed_on_with_the_checkpoint_after_which_it_was():
    at_a = heard(A, (B, 1, {NUMBER: 7}))
    at_c = heard(C, (A, 1, {NUMBER: 8, **at_a.numbers(C)}))
    assert at_c.is_later(B, *of(7))
    assert at_c.is_later(B, *of(3))
    assert not at_c.is_later(B, *of(8))
    assert not at_c.is_later(A, *of(8)), "of its sender a message tells by itself"
    assert at_c.numbers(A).items() >= at_a.numbers(C).items()


def test_what_has_not_changed_since_a_checkpoint_is_passed_on_as_such():
    at_a = heard(A, (B, 1, {NUMBER: 7, SINCE: 5}))
    at_c = heard(C, (A, 1, {NUMBER: 8, **at_a.numbers(C)}))
    assert not at_c.is_later(B, *of(5))
    assert at_c.is_later(B, *of(4))


def test_a_new_life_is_later_than_all_of_the_one_before():
    at_a = heard(A, (B, 1, {NUMBER: 7}), (B, 2, {NUMBER: 2}))
    at_c = heard(C, (A, 1, {NUMBER: 8, **at_a.numbers(C)}))
    assert at_c.is_later(B, *of(9))
    assert at_c.is_later(B, *of(2, life=2))
    assert not at_c.is_later(B, *of(3, life=2))


def test_nobody_is_told_of_itself_nor_twice_of_the_same():
    at_a = heard(A, (B, 1, {NUMBER: 7}), (C, 1, {NUMBER: 6}))
    before = at_a.version
    assert not at_a.numbers(B).keys() & at_a.numbers(C).keys()
    assert at_a.numbers(C, before) == {}
    at_a.hear(B, 1, {NUMBER: 7})
    at_a.hear(B, 1, {NUMBER: 6})
    assert at_a.version == before
    at_a.hear(B, 1, {NUMBER: 8})
    assert at_a.numbers(C, before) == heard(A, (B, 1, {NUMBER: 8})).numbers(C)


def test_of_many_it_is_said_that_anybody_may_have_changed():
    many = HeardChanges(0, 100)
    for peer in range(1, 90):
        many.hear(peer, 1, {NUMBER: peer})
    numbers = many.numbers(99)
    assert len(numbers) == 1
    there = HeardChanges(99, 100)
    assert there.hear(0, 1, {NUMBER: 90, **numbers})
    assert there.is_later(95, *of(89))
    assert not there.is_later(95, *of(90))
    assert len(there.numbers(50)) == 2, "and of the one who told it"


def test_of_many_those_in_another_life_are_told_apart():
    many = HeardChanges(0, 100)
    for peer in range(1, 60):
        many.hear(peer, 1 + peer % 2, {NUMBER: 3})  # as after the death of a process
    there = heard_by_one_of_many(many)
    for peer in range(1, 60):
        life = 1 + peer % 2
        assert there.is_later(peer, *of(9)) is (life == 2)
        assert there.is_later(peer, *of(3, life))
        assert not there.is_later(peer, *of(4, life))


def heard_by_one_of_many(changes: HeardChanges) -> HeardChanges:
    there = HeardChanges(99, 100)
    there.hear(0, 1, {NUMBER: 90, **changes.numbers(99)})
    return there


def test_what_a_liar_says_since_is_passed_on_as_a_number():
    lied = heard(A, (B, 1, {NUMBER: 5, SINCE: 0}))
    assert min(lied.numbers(C).values(), default=0) >= 0


@pytest.mark.parametrize("number", [1 << 40, (1 << 53) - 1])
def test_what_cannot_be_is_not_believed(number: int):
    lie = {NUMBER: 5, 15: number, 16 + 2 * B: number, 16 + 2 * 7: 5, 17: 3}
    changes = heard(C, (A, 1, lie))
    assert not changes.is_later(B, *of(5))
    assert len(changes.numbers(B)) == 1


@pytest.mark.parametrize("number", [6, 1 << 31, (1 << 53) - 1])
def test_nobody_has_heard_of_a_number_that_it_has_not_caught_up_with(number: int):
    lie = {NUMBER: 5, 15: number, 16 + 2 * B: number}
    changes = heard(C, (A, 1, lie))
    assert not changes.is_later(B, *of(6))
    assert changes.numbers(B) == {16 + 2 * A: 5}


@pytest.mark.parametrize("number", [1 << 40, 1 << 50, (1 << 53) - 1])
def test_whoever_says_a_number_that_cannot_be_is_not_believed(number: int):
    lie = {NUMBER: number, 15: number, 16 + 2 * B: number}
    changes = heard(C, (A, 1, lie), (A, 1, {NUMBER: 7, SINCE: number}))
    assert not changes.is_later(B, *of(6))
    assert changes.numbers(B) == {16 + 2 * A: 7}
    many = heard(C, *((A, 1, {NUMBER: n << 32, 15: n << 32}) for n in range(1 << 17)))
    assert not many.is_later(B, 1, 1 << 48)


def test_a_life_that_checkpoints_contradict_for_long_is_no_more_believed():
    lie, at_a = {NUMBER: 5, 16 + 2 * B: 4, 17 + 2 * B: 9}, heard(A, (B, 1, {NUMBER: 6}))
    changes = heard(C, (A, 1, lie))
    for now in (10.0, 20.0, 30.0):
        assert changes.is_later(B, *of(7))
        changes.doubt({B: 1}, now, 20.0)
    changes.doubt({B: 1}, 31.0, 20.0)
    assert not changes.is_later(B, *of(7))
    assert not changes.hear(A, 1, lie), "nor if it is told again"
    assert changes.numbers(A).keys() == set()
    assert changes.hear(A, 1, {NUMBER: 8, **at_a.numbers(C)}), "but what can be"
    assert changes.is_later(B, *of(6))
    changes.doubt({B: 2}, 40.0, 20.0)
    assert changes.hear(A, 1, {NUMBER: 9, **lie}), (
        "of a new life, all is believed again"
    )


def test_a_new_life_that_checkpoints_show_in_time_is_believed():
    changes = heard(C, (A, 1, {NUMBER: 5, 16 + 2 * B: 4, 17 + 2 * B: 2}))
    for now, life in ((10.0, 1), (20.0, 1), (25.0, 2), (90.0, 2)):
        changes.doubt({B: life}, now, 20.0)
    assert changes.is_later(B, *of(4, life=2))
    assert not changes.is_later(B, *of(5, life=2))


@pytest.mark.parametrize("network", ["streams", "datagrams"])
@pytest.mark.parametrize("seed", range(2))
def test_no_event_is_refused_whose_sender_knew_better(network: Any, seed: int):
    report = wl.simulate(
        relaying.system(network),
        mode="check",
        seconds=20,
        seed=seed,
        rate=1.0,
        threads=1,
        traces=False,
    )
    steering = report.to_json()["steering"]
    assert steering["checked"] > 10
    assert report.to_json()["refusals"] == []


@pytest.mark.parametrize("network", ["streams", "datagrams"])
def test_no_event_is_refused_whose_sender_knew_better_on_sockets(network: Any):
    async def main() -> None:
        system, given = relaying.system(network), {"network": network}
        async with (
            asyncio.timeout(20),
            wl.steered(
                relaying.system,
                mode="check",
                parameters=given,
                gather_every=0.2,
                gather_bandwidth=1e9,
            ) as companions,
            wl.Host(system, companions=companions) as host,
        ):
            for _ in range(30):
                await host.call(relaying.A, "go")
                await asyncio.sleep(0.02)
            await host.until(relaying.B, lambda node: node.kept == 30)
            await asyncio.sleep(0.1)
            ready = host.state(relaying.M).ready
            of_m = host.counts(relaying.M).steering
        assert of_m["refused"] == 0
        assert of_m["checked"] > 10
        assert ready == 30 or network == "datagrams"

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(4))
def test_no_event_is_refused_whose_sender_has_heard_of_a_reset(seed: int):
    runs = [
        wl.simulate(
            locking.system,
            mode=mode,
            seconds=40,
            seed=seed,
            weather="every 7s reset any",
            threads=1,
            traces=False,
        ).to_json()
        for mode in ("off", "check")
    ]
    assert [run["verdict"] for run in runs] == ["unknown", "unknown"]
    assert runs[1]["steering"]["checked"] > 5
    assert runs[1]["refusals"] == []
