"""The forecast: what befalls nodes and links at its time, and what comes of it."""

from __future__ import annotations

import asyncio

import pytest
from tests.deploy.virtual_time import run_at_once

import worldline as wl
from worldline.deploy.forecast import Forecast
from worldline.deploy.weather import LinkConditions
from worldline.worlds.weather_file import read_weather, weather_of

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Idle:
    pass


SYSTEM = wl.System({A: Idle(), B: Idle(), C: Idle()}, faults=wl.Faults(nodes=(A, B)))


class Nodes:
    """Nodes that need a second to start again; notes what befalls them, and when."""

    def __init__(self) -> None:
        self.up = {A, B, C}
        self.noted: list[tuple[float, str, object]] = []
        self._conditions = LinkConditions()

    @property
    def conditions(self) -> LinkConditions:
        return self._conditions

    @conditions.setter
    def conditions(self, now: LinkConditions) -> None:
        self._conditions = now
        self._note("links", (now.loss, now.delay, now.side))

    def is_up(self, node: wl.NodeId) -> bool:
        return node in self.up

    def crash(self, node: wl.NodeId) -> None:
        self.up.remove(node)
        self._note("crash", node)

    async def restart(self, node: wl.NodeId) -> None:
        await asyncio.sleep(1)
        self.up.add(node)
        self._note("up", node)

    def _note(self, what: str, more: object) -> None:
        at = round(asyncio.get_running_loop().time(), 6)
        self.noted.append((at, what, more))


def forecast_of(text: str, nodes: Nodes, seed: int = 0) -> Forecast:
    events = weather_of(read_weather(text), SYSTEM, text, deployed=True)
    return Forecast(events, SYSTEM, seed, nodes)


def befallen(text: str, seconds: float = 60.0, seed: int = 0) -> tuple[Nodes, Forecast]:
    nodes = Nodes()
    forecast = forecast_of(text, nodes, seed)

    async def go() -> None:
        try:
            await asyncio.wait_for(forecast.run(), seconds)
        except TimeoutError:
            assert "every" in text or forecast.awaited, "it ends by itself"

    run_at_once(go())
    return nodes, forecast


def test_everything_comes_at_its_time():
    nodes, _ = befallen("at 3s restart a, at 1s crash a, at 2s loss 0.5, at 5s delay 2")
    assert nodes.noted == [
        (1, "crash", A),
        (2, "links", (0.5, 1.0, None)),
        (4, "up", A),
        (5, "links", (0.5, 2.0, None)),
    ]


def test_what_befalls_links_at_once_is_there_before_any_node_begins():
    nodes = Nodes()

    async def go() -> None:
        forecast = forecast_of(
            "at 0s crash a, every 2s at 0s loss 1, at 0s cut b", nodes
        )
        forecast.begin()
        assert nodes.conditions == LinkConditions(loss=1.0, side=frozenset([B]))
        assert nodes.is_up(A)
        nodes.conditions = LinkConditions()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(forecast.run(), 3)

    run_at_once(go())
    assert nodes.noted[-2:] == [(0, "crash", A), (2, "links", (1.0, 1.0, None))]


def test_a_reset_is_a_crash_and_a_restart_and_holds_up_nothing():
    nodes, _ = befallen("at 1s reset c, at 1.5s crash b")
    assert nodes.noted == [(1, "crash", C), (1.5, "crash", B), (2, "up", C)]


def test_no_node_is_on_its_way_back_any_more_when_it_has_ended():
    ended: list[wl.NodeId] = []

    class Slow(Nodes):
        async def restart(self, node: wl.NodeId) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(1)  # it takes its process back
                ended.append(node)

    async def go() -> list[wl.NodeId]:
        forecast = forecast_of("at 1s reset a, at 90s heal", Slow())
        running = asyncio.ensure_future(forecast.run())
        await asyncio.sleep(2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return [*ended]

    assert run_at_once(go()) == [A]


def test_what_cannot_be_comes_to_nothing_and_that_is_known():
    nodes, forecast = befallen(
        "at 1s restart a, at 2s heal, at 3s crash a b, at 4s crash a"
    )
    assert nodes.noted == [(3, "crash", A), (3, "crash", B)]
    befell = {str(one): so for one, so in forecast.befell.items()}
    assert befell == {
        "at 1 s restart a": False,
        "at 2 s heal": False,
        "at 3 s crash a": True,
        "at 3 s crash b": True,
        "at 4 s crash a": False,
    }


def test_a_cut_is_there_until_it_is_healed():
    nodes, forecast = befallen("at 1s cut a b, at 2s cut c, at 3s heal, at 4s cut c")
    sides = [more[2] for _, _, more in nodes.noted]  # type: ignore[index]
    assert sides == [frozenset([A, B]), None, frozenset([C])]
    assert list(forecast.befell.values()) == [True, False, True, True]


def test_something_comes_again_and_again():
    nodes, _ = befallen("every 2s at 1s reset a", seconds=6)
    assert [at for at, what, _ in nodes.noted if what == "crash"] == [1, 3, 5]


def test_any_is_drawn_by_the_seed_of_those_that_may_be_struck():
    def drawn(seed: int) -> list[object]:
        nodes, _ = befallen("every 3s reset any", seconds=100, seed=seed)
        return [node for _, what, node in nodes.noted if what == "crash"]

    first = drawn(1)
    assert set(first) == {A, B}  # c is spared by the system
    assert drawn(1) == first
    assert drawn(2) != first


def test_of_those_that_are_up_or_down():
    nodes, _ = befallen(
        "at 1s crash any, at 2s crash any, at 3s crash any, at 4s restart any"
    )
    assert [(at, what) for at, what, _ in nodes.noted] == [
        (1, "crash"),
        (2, "crash"),
        (5, "up"),
    ]


def test_it_knows_whether_a_node_may_come_back():
    async def go() -> list[bool]:
        nodes = Nodes()
        forecast = forecast_of("at 1s crash a, at 2s restart a, at 4s loss 0", nodes)
        running = asyncio.ensure_future(forecast.run())
        seen = []
        for _ in range(3):
            await asyncio.sleep(1.25)
            seen.append(forecast.may_restart)
        await running
        return seen

    # Before it is due; while it starts; when it is up.
    assert run_at_once(go()) == [True, True, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at 1s cut a b c", "a cut of all nodes"),
        ("at 1s crash d", "has no node 'd'"),
    ],
)
def test_what_a_deployed_system_cannot_meet_is_refused(text: str, said: str):
    with pytest.raises(wl.UsageError, match=said):
        forecast_of(text, Nodes())


def test_a_spared_node_can_be_killed_if_it_is_named():
    nodes, _ = befallen("at 1s crash c")
    assert nodes.noted == [(1, "crash", C)]


@pytest.mark.parametrize(("seconds", "awaited"), [(2.5, ("a",)), (3.5, ())])
@pytest.mark.parametrize("more", ["", ", every 9s heal"])
def test_who_is_on_the_way_back_at_the_end_is_known(
    more: str, seconds: float, awaited: tuple[str, ...]
):
    _, forecast = befallen(f"at 2s reset a{more}", seconds)
    assert forecast.awaited == awaited
