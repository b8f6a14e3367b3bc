"""Weather on links: what is lost, doubled, held back and cut, by the seed."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.weather import LinkConditions, LinkWeather
from worldline.model.data.identity import NodeId, ids
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read
from worldline.worlds.latency import latency_of

A, B, C = IDS = ids("a", "b", "c")
CALM = (0.0,)


def weather(seed: int = 0, loss: float = 0.0, **more: object) -> LinkWeather:
    conditions = LinkConditions(loss=loss)
    return LinkWeather(IDS, seed, conditions=conditions, **more)  # type: ignore[arg-type]


def fates(made: LinkWeather, count: int = 200) -> list[tuple[float, ...]]:
    return [made.copies(0, 1) for _ in range(count)]


def test_without_any_everything_leaves_at_once():
    made = weather()
    assert fates(made) == [CALM] * 200
    assert made.hold(0, 1) == 0.0


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, math.inf, True, "0.5", None])
def test_what_is_no_share_is_refused(share: Any):
    with pytest.raises(wl.UsageError, match=r"loss=.* is not a number from 0 to 1"):
        LinkConditions(loss=share)
    with pytest.raises(
        wl.UsageError, match=r"duplicate=.* is not a number from 0 to 1"
    ):
        weather(duplicate=share)


@pytest.mark.parametrize("delay", [-1, math.nan, math.inf, True, "2"])
def test_a_delay_that_multiplies_nothing_is_refused(delay: Any):
    with pytest.raises(wl.UsageError, match=r"delay=.* is not a number from 0 to 1e"):
        LinkConditions(delay=delay)


def test_the_least_and_the_most_are_taken():
    assert fates(weather(loss=1, duplicate=1)) == [()] * 200
    assert fates(weather(loss=0, duplicate=1)) == [(0.0, 0.0)] * 200
    made = weather(latency=latency_of("constant 1s"))
    made.conditions = LinkConditions(delay=0)
    assert (fates(made), made.hold(0, 1)) == ([CALM] * 200, 0.0)


def test_a_cut_of_a_node_of_another_system_is_refused():
    made, (other,) = weather(), ids("other")
    with pytest.raises(wl.UsageError, match="other cannot be cut from others"):
        made.conditions = LinkConditions(side=frozenset({A, other}))
    assert made.conditions == LinkConditions()


def test_a_share_is_lost_as_the_seed_draws_it():
    lost = [fate == () for fate in fates(weather(loss=0.3))]
    assert 40 <= sum(lost) <= 80
    assert [fate == () for fate in fates(weather(loss=0.3))] == lost
    assert [fate == () for fate in fates(weather(seed=1, loss=0.3))] != lost


def test_what_one_node_draws_does_not_depend_on_the_others():
    alone, among = weather(loss=0.5), weather(loss=0.5)
    mixed = []
    for _ in range(50):
        among.copies(1, 2)
        mixed.append(among.copies(0, 1))
    assert mixed == fates(alone, 50)


def test_each_life_of_a_node_draws_anew():
    first, second = weather(loss=0.5), weather(loss=0.5)
    second.begin_life(0, 2)
    assert fates(first) != fates(second)
    second.begin_life(0, 2)  # a life that goes on draws nothing twice
    third = weather(loss=0.5)
    third.begin_life(0, 2)
    assert fates(second, 50) != fates(third, 50)


def test_a_share_is_doubled_and_each_copy_has_its_own_delay():
    made = weather(duplicate=0.5, latency=latency_of("uniform 10ms 50ms"))
    doubled = [fate for fate in fates(made) if len(fate) == 2]
    assert 70 <= len(doubled) <= 130
    assert all(one != other for one, other in doubled)
    assert all(0.01 <= each <= 0.05 for fate in doubled for each in fate)


def test_latencies_are_multiplied_and_may_depend_on_both_ends():
    def between(src: NodeId, dst: NodeId, drawn: float) -> float:
        return 1.0 if (src, dst) == (A, B) else 2.0

    made = weather(between=between)
    made.conditions = LinkConditions(delay=3.0)
    assert (made.copies(0, 1), made.copies(1, 0)) == ((3.0,), (6.0,))
    assert (made.hold(0, 1), made.hold(1, 0)) == (3.0, 6.0)


def test_a_cut_loses_datagrams_and_holds_streams_until_it_is_healed():
    made, told = weather(), []
    made.on_change(lambda: told.append(made.conditions.side))
    made.conditions = LinkConditions(side=frozenset([A, C]))
    assert (made.copies(0, 1), made.hold(1, 2)) == ((), None)
    assert (made.copies(0, 2), made.hold(0, 2)) == (CALM, 0.0)  # one side
    made.conditions = LinkConditions()
    assert (made.copies(0, 1), made.hold(1, 2)) == (CALM, 0.0)
    assert told == [frozenset([A, C]), None]


def test_streams_lose_nothing():
    made = weather(loss=1.0)
    assert (made.hold(0, 1), made.copies(0, 1)) == (0.0, ())


def test_what_a_node_sends_to_itself_meets_no_weather():
    made = weather(loss=1.0, latency=latency_of("constant 1s"))
    assert (made.copies(0, 0), made.hold(0, 0)) == (CALM, 0.0)


@wl.message
class Hello:
    pass


@wl.node
class Greeter:
    peer: wl.NodeId
    has_started: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.has_started = True
        ctx.send(self.peer, Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        pass


@wl.safety
def all_have_started(view: wl.View) -> bool:
    return all(view[node].has_started for node in view.nodes)


def test_what_is_lost_while_nodes_start_is_lost_once_all_have(tmp_path: Path):
    """Nothing is judged, and nothing but starts happens, before all have started."""
    nodes = {IDS[0]: Greeter(IDS[1]), IDS[1]: Greeter(IDS[0])}
    system = wl.System(nodes, properties=[all_have_started], name="greeters")

    async def main() -> None:
        conditions = LinkConditions(loss=1.0)
        weather = LinkWeather(list(nodes), 0, conditions=conditions)
        async with wl.Host(system, record=tmp_path / "run", weather=weather):
            await asyncio.sleep(0.01)

    asyncio.run(main())
    found = replay_recording(tmp_path / "run", system, out=tmp_path / "run.wl")
    assert (found.drops, found.exit_code) == (2, 0)
    assert found.trace is not None
    kinds = [(step.step, step.kind) for step in read(found.trace).steps]
    assert kinds == [(-1, "start"), (0, "start"), (1, "drop"), (2, "drop")]
    begun = wl.check(system, from_=str(found.trace), traces=False)
    assert begun.verdict is wl.Verdict.HOLDS
