"""What is to be run: options that contradict each other, and where it is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.plan import RunPlan, plan_of

A, B = wl.ids("a", "b")


@wl.node
class Idle:
    pass


def system(network: wl.Network | None = None) -> wl.System:
    made = wl.datagrams(loss=True) if network is None else network
    return wl.System({A: Idle(), B: Idle()}, network=made, name="idle nodes")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = '[nodes]\na = "127.0.0.1:7001"\nb = "127.0.0.1:7002"\n'
    (tmp_path / "c.toml").write_text(text)


def plan(made: wl.System | None = None, **given: Any) -> RunPlan:
    return plan_of(made or system(), "idle.py", RunOptions.of(**given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"node": ["a"]}, "nothing says where the others are"),
        ({"node": ["c"], "cluster": "c.toml"}, "idle nodes has no node 'c'"),
        ({"node": ["a"], "cluster": "c.toml", "together": True}, "--together runs all"),
        ({"insecure": True}, "--insecure has no meaning without --cluster"),
        ({"no_record": True, "record": "x"}, "record has no meaning with --no-record"),
        ({"no_record": True, "keep": 20}, "keep has no meaning with --no-record"),
        ({"no_record": True, "every": 1.0}, "every has no meaning with --no-record"),
        (
            {"no_record": True, "contents": "ids"},
            "contents has no meaning with --no-record",
        ),
        ({"weather": "at 1s delay 2"}, "the weather multiplies latencies, and none"),
        ({"weather": "at 1s crash c"}, "weather, entry 1: idle nodes has no node 'c'"),
        ({"latency": "fast"}, "'fast' is no latency"),
        ({"cluster": "d.toml"}, "d.toml: No such file"),
        ({"record": "c.toml"}, "c.toml is no folder"),
        ({"record": "."}, "holds something else"),
        ({"sync": "often"}, "sync 'often' is unknown"),
        ({"control": 65_536, "together": True}, "--control 65536: the last port is"),
        ({"control": 65_535}, "the last port is 65535, and 2 are needed, one for each"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str):
    with pytest.raises(wl.UsageError) as refused:
        plan(**given)
    assert said in str(refused.value)
    assert refused.value.remedy
    assert not Path("worldline-out").exists()


@pytest.mark.parametrize(
    "given", [{"loss": 0.1}, {"weather": "at 1s loss 0.1"}, {"duplicate": 0.5}]
)
def test_streams_lose_and_double_nothing(given: dict[str, Any]):
    with pytest.raises(wl.UsageError, match=r"streams, has no (drops|duplicates)"):
        plan(system(wl.streams()), **given)
    plan(system(wl.streams()), weather="at 1s cut a, at 2s heal, at 3s loss 0")


def test_each_run_is_recorded_into_a_folder_of_its_own():
    folders = [plan().record for _ in range(3)]
    assert list(map(str, folders)) == [
        "worldline-out/idle-nodes-run",
        "worldline-out/idle-nodes-run-2",
        "worldline-out/idle-nodes-run-3",
    ]
    assert plan(no_record=True).record is None
    given = plan(record="deep/one")
    assert given.record == Path("deep/one")
    assert given.record.is_dir()


def test_a_node_goes_on_where_its_lives_before_were_recorded():
    given: dict[str, Any] = {"node": ["b"], "cluster": "c.toml"}
    first = plan(**given)
    assert first.nodes == (B,)
    assert first.record is not None
    (first.record / "something").touch()
    assert plan(**given).record == first.record


def test_a_folder_in_which_nothing_was_recorded_is_taken_away_again():
    made = plan()
    assert made.record is not None
    (made.record / "cluster.toml").touch()
    made.clear()
    assert not made.record.exists()


def test_a_recording_is_never_taken_away():
    made, kept = plan(), plan(node=["a"], cluster="c.toml", record="mine")
    assert made.record is not None
    for folder in (made.record, Path("mine")):
        (folder / "a").mkdir()
        (folder / "a" / "1-0.wlj").touch()
    made.clear()
    kept.clear()
    assert made.record.is_dir()
    assert Path("mine").is_dir()


def test_all_journals_of_a_run_say_the_same_and_others_something_else():
    one, other = plan(), plan()
    assert one.run
    assert one.run != other.run
    # Whoever runs the other nodes does not know of it.
    assert plan(node=["a"], cluster="c.toml").run is None


def test_links_have_weather_only_if_any_was_asked_for():
    assert plan().link_weather() is None
    weather = plan(loss=0.5, latency="constant 10ms").link_weather()
    assert weather is not None
    assert weather.conditions.loss == 0.5
    assert weather.hold(0, 1) == 0.01
    assert plan(weather="at 1s cut a").link_weather() is not None


def test_a_latency_may_be_a_function_of_a_file(tmp_path: Path):
    (tmp_path / "far.py").write_text("def far(src, dst, drawn):\n    return 2.0\n")
    weather = plan(latency="far.py:far").link_weather()
    assert weather is not None
    assert weather.hold(0, 1) == 2.0
