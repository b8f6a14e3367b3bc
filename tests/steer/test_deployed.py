"""Nodes on real sockets that see a failure coming: it is reported, or it does not come."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.steer import words

import worldline as wl
from worldline.loading.loader import load
from worldline.trace.format import write

PROPERTY = "few_words_are_bad"
FILE = Path(words.__file__)


def run(
    mode: Any,
    folder: Path,
    step: Callable[[wl.Host], Awaitable[None]],
    system: Callable[[], wl.System] = words.system,
    said: list[str] | None = None,
    **given: Any,
) -> list[str]:
    """Run a step beside which nodes are in a mode; return the lines that were said."""
    said = [] if said is None else said

    async def main() -> None:
        async with (
            asyncio.timeout(20),
            wl.steered(
                system,
                mode=mode,
                gather_every=0.2,
                gather_bandwidth=1e9,
                say=said.append,
                **given,
            ) as companions,
            wl.Host(system(), record=folder / "run", companions=companions) as host,
        ):
            await step(host)

    asyncio.run(main())
    return said


async def until(host: wl.Host, node: wl.NodeId, name: str) -> None:
    while not host.counts(node).steering[name]:
        await asyncio.sleep(0.01)


def test_what_is_predicted_is_told_with_a_run_that_leads_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    async def step(host: wl.Host) -> None:
        await host.call(words.B, "say", True)
        await until(host, words.A, "predicted")

    (said,) = run("predict", tmp_path, step)
    file = f"worldline-out/words-predicted-{PROPERTY}.wl"
    assert said.startswith(f"predicted: {PROPERTY} ")
    assert said.endswith(f"; {file}")
    system = load(f"{FILE}", {})
    report = wl.replay(file, system)
    assert report.verdict is wl.Verdict.VIOLATED


def test_a_property_that_asks_for_the_time_is_told_once_and_left_out_of_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    said: list[str] = []

    async def step(host: wl.Host) -> None:
        await host.call(words.B, "say", True)
        await until(host, words.A, "predicted")
        while not any("nobody_is_late" in line for line in said):
            await asyncio.sleep(0.01)

    run("predict", tmp_path, step, words.timed, said)
    (left_out,) = (line for line in said if "nobody_is_late" in line)
    assert "property nobody_is_late reads the time" in left_out
    assert left_out.endswith("; it is left out from now on")
    assert any(line.startswith(f"predicted: {PROPERTY} ") for line in said)


def test_failures_of_the_property_that_is_named_are_seen_coming_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    async def step(host: wl.Host) -> None:
        await host.call(words.B, "say", False)
        await host.call(words.B, "say", True)
        await until(host, words.A, "predicted")

    said = run("predict", tmp_path, step, words.counted, properties=[PROPERTY])
    assert said
    assert all(line.startswith(f"predicted: {PROPERTY} ") for line in said)


def test_events_are_checked_for_the_property_that_is_named_alone(tmp_path: Path):
    async def step(host: wl.Host) -> None:
        for is_bad in (False, False, False, True, True, True, True):
            await host.call(words.B, "say", is_bad)
        while host.counts(words.A).steering["refused"] < 2:
            await asyncio.sleep(0.01)
        assert (host.state(words.A).good, host.state(words.A).bad) == (3, 2)

    run("check", tmp_path, step, words.counted, properties=[PROPERTY])


def test_a_property_that_there_is_not_is_refused(tmp_path: Path):
    async def never(host: wl.Host) -> None:
        raise AssertionError

    with pytest.raises(wl.UsageError, match="words has no property 'nope'"):
        run("steer", tmp_path, never, properties=["nope"])


def test_what_is_predicted_does_not_come_about_where_nodes_steer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    async def step(host: wl.Host) -> None:
        says = []
        while not any(
            host.counts(node).steering["blocked"] for node in (words.A, words.B)
        ):
            says.append(asyncio.ensure_future(host.call(words.B, "say", True)))
            await asyncio.sleep(0.02)
        assert len(says) > 2
        assert host.state(words.A).bad <= 2
        for say in says:
            say.cancel()

    run("steer", tmp_path, step)
    report = wl.replay(tmp_path / "run", load(f"{FILE}", {}))
    assert report.divergence is None
    assert report.verdict is not wl.Verdict.VIOLATED


def test_faults_of_predictions_may_come_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    async def main() -> None:
        faults = wl.Faults(resets=1, nodes=(words.A,))
        async with (
            asyncio.timeout(20),
            wl.steered(
                words.system,
                mode="predict",
                gather_every=0.2,
                prediction_faults=faults,
                predicting=["a"],
            ) as companions,
            wl.Host(words.system(), companions=companions) as host,
        ):
            await host.call(words.B, "say", True)
            await until(host, words.A, "predicted")
            assert host.counts(words.B).steering["predicted"] == 0

    asyncio.run(main())


@wl.node
class Mute(words.Talker):
    """Says nothing of its own."""


def _changed(**changes: Any) -> wl.System:
    return words.system().replace(**changes)


def _mutes() -> dict[wl.NodeId, Any]:
    return {words.A: Mute(words.B), words.B: Mute(words.A)}


def _begun() -> dict[wl.NodeId, Any]:
    return {words.A: words.Talker(words.B, good=1), words.B: words.Talker(words.A)}


def _scripted() -> list[Any]:
    return [wl.script(words.B, [wl.invoke(words.Talker.say, True)])]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: load("zoo:toy", {}),
            "for words, and the host runs toy: a is a Peer, and no Talker",
        ),
        (lambda: _changed(network=wl.streams(buffer=2)), "its network is another"),
        (lambda: _changed(workload=_scripted()), "b has other calls to make"),
        (lambda: _changed(nodes=_begun()), "a begins in another state"),
        (lambda: _changed(nodes=_mutes(), workload=[]), "a is a Mute, and no Talker"),
    ],
)
def test_a_host_of_another_system_is_refused(made: Callable[[], wl.System], said: str):
    async def main() -> None:
        async with wl.steered(words.system, mode="check") as companions:
            wl.Host(made(), companions=companions)

    with pytest.raises(wl.UsageError, match=said):
        asyncio.run(main())


def test_other_faults_and_properties_may_be_those_of_the_host():
    async def main() -> None:
        async with wl.steered(words.system, mode="check") as companions:
            changed = _changed(properties=[], faults=wl.Faults())
            wl.Host(changed, companions=companions)

    asyncio.run(main())


def test_who_has_no_companions_is_told_how_to_have_them():
    async def main() -> None:
        async with wl.Host(words.system()) as host:
            with pytest.raises(wl.UsageError, match=r"companions of wl.steered"):
                await host.snapshot(words.A)

    asyncio.run(main())


@pytest.mark.parametrize("how", ["crash", "stop"])
def test_who_waits_for_a_snapshot_is_told_when_the_node_stops(how: str):
    async def main() -> None:
        async with (
            asyncio.timeout(5),
            wl.steered(words.system, mode="check") as companions,
            wl.Host(words.system(), companions=companions) as host,
        ):
            host.crash(words.B)  # so that it takes long
            asking = asyncio.ensure_future(host.snapshot(words.A, timeout=None))
            await asyncio.sleep(0)
            if how == "crash":
                host.crash(words.A)
            else:
                await host.stop_node(words.A)
            with pytest.raises(wl.UsageError, match="a has stopped"):
                await asking

    asyncio.run(main())


def test_a_snapshot_in_memory_is_no_place_to_begin_and_it_is_said_what_to_do(
    tmp_path: Path,
):
    async def main() -> Any:
        async with (
            wl.steered(words.system, mode="check") as companions,
            wl.Host(words.system(), companions=companions) as host,
        ):
            return await host.snapshot(words.A)

    trace = asyncio.run(main())
    with pytest.raises(wl.UsageError, match=r"worldline.trace.format.write\(trace"):
        wl.predict(words.system, from_=trace)
    write(trace, tmp_path / "now.wl")
    wl.predict(words.system, from_=tmp_path / "now.wl", max_states=10, traces=False)


def test_without_a_mode_nothing_stands_beside_nodes():
    async def main() -> None:
        async with wl.steered(words.system(), mode="off") as companions:
            assert companions == ()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("system", "given", "said"),
    [
        (FILE, {}, "would be loaded once more, with other classes"),
        (words.system(), {}, "nothing can predict for words: it has no target"),
        (
            lambda: words.timed().replace(),
            {},
            "stands in a module, by itself: no lambda",
        ),
        (functools.partial(words.system), {}, r"as parameters=\{...\}"),
        (words.system, {"mode": "on"}, "mode 'on' is unknown"),
        (words.system, {"mode": "off", "gather_every": 1}, "no meaning with mode off"),
        (words.system, {"predicting": ["c"]}, "c is no node of words"),
        (words.system, {"prediction_faults": "fire=1"}, "not understood at 'fire=1'"),
    ],
)
def test_what_cannot_be_steered_is_refused(system: Any, given: Any, said: str):
    async def main() -> None:
        async with wl.steered(system, **given):
            pass

    with pytest.raises(wl.UsageError, match=said):
        asyncio.run(main())
