"""Weather as one line: what it says, and what is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.model.errors import UsageError
from worldline.worlds.weather_file import faults_of, read_weather, weather_of
from worldline.worlds.weather_text import entries_of, is_text

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Idle:
    pass


SYSTEM = wl.System(
    {A: Idle(), B: Idle(), C: Idle()},
    faults=wl.Faults(crashes=9, restarts=9, resets=9, partitions=1, nodes=(A, B)),
)


def as_given(text: str) -> list[tuple[Any, ...]]:
    return [
        (one.time, one.every, one.what, one.node, sorted(one.side), one.amount)
        for one in weather_of(read_weather(text), SYSTEM, text)
    ]


def test_a_line_says_what_befalls_which_nodes_and_when():
    assert as_given(
        "at 20s crash a b, every 1m at 5s cut a b,at 2m heal, every 3s reset b, "
        "at 1.5s loss 0.3, at 90s delay 2, at 3s crash any"
    ) == [
        (20.0, None, "crash", A, [], 0.0),
        (20.0, None, "crash", B, [], 0.0),
        (5.0, 60.0, "cut", None, [A, B], 0.0),
        (120.0, None, "heal", None, [], 0.0),
        (3.0, 3.0, "reset", B, [], 0.0),
        (1.5, None, "loss", None, [], 0.3),
        (90.0, None, "delay", None, [], 2.0),
        (3.0, None, "crash", None, [], 0.0),
    ]


def test_a_reset_that_not_all_notice_says_for_what_share_of_them():
    text = "every 1m reset b a silent 0.5, at 3s reset a"
    assert [
        (one.node, one.silent) for one in weather_of(read_weather(text), SYSTEM, text)
    ] == [(B, 0.5), (A, 0.5), (A, 0.0)]
    assert faults_of(read_weather(text)) == {"resets", "silent_resets"}
    said = [str(one) for one in weather_of(read_weather(text), SYSTEM, text)]
    assert said[0] == "every 60 s at 60 s reset b silent 0.5"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at 3s crash a silent 0.5", "no node 'silent'"),
        ("at 3s reset a silent", "no node 'silent'"),
        ("at 3s reset a silent some", "is no weather"),
        ("at 3s reset a silent 1.5", "silent cannot be 1.5"),
    ],
)
def test_what_is_no_silent_reset_is_refused(text: str, words: str):
    with pytest.raises(UsageError, match=words):
        weather_of(read_weather(text), SYSTEM, text)


def test_a_file_says_a_silent_reset_in_the_same_words(tmp_path: Path):
    storm = tmp_path / "storm.toml"
    storm.write_text('[[weather]]\nat = "3s"\nreset = "a"\nsilent = 0.5\n')
    (one,) = weather_of(read_weather(storm), SYSTEM, storm)
    assert (one.node, one.silent) == (A, 0.5)
    storm.write_text('[[weather]]\nat = "3s"\ncrash = "a"\nsilent = 0.5\n')
    with pytest.raises(UsageError, match="is not understood"):
        weather_of(read_weather(storm), SYSTEM, storm)


def test_processes_are_reset_so_that_all_notice():
    text = "at 3s reset a silent 0.5"
    with pytest.raises(UsageError, match="tell all of its peers"):
        weather_of(read_weather(text), SYSTEM, text, deployed=True)


def test_a_line_has_the_entries_of_a_file():
    assert entries_of("every 7s at 3s restart any") == [
        {"every": "7s", "at": "3s", "restart": ["any"]}
    ]


@pytest.mark.parametrize("name", ["storm.toml", "at", "at.toml", "./at 20s", "every"])
def test_what_begins_otherwise_names_a_file(name: str):
    assert not is_text(name)


@pytest.mark.parametrize(
    "text",
    [
        "at 20s",
        "at 20s crash",
        "at 20s crash a,",
        "at 20s at 30s crash a",
        "at 20s burn a",
        "at 20s heal a",
        "at 20s loss",
        "at 20s loss much",
        "at 20s delay 2 3",
        "at 20s crash a, crash b",
    ],
)
def test_a_line_that_is_none_is_refused_with_what_is_wrong(text: str):
    with pytest.raises(wl.UsageError, match="is no weather") as refused:
        entries_of(text)
    assert "at 20s crash a, every 1m" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at 1s heal, at 20s crash z", "weather, entry 2: system has no node 'z'"),
        ("at soon crash a", "weather, entry 1: 'soon' is no duration"),
        ("at 1s loss 3", "weather, entry 1: loss cannot be 3"),
        ("at 1s crash c", "weather, entry 1: c is spared"),
        ("at 1s cut any", "weather, entry 1: system has no node 'any'"),
    ],
)
def test_what_a_system_cannot_have_is_refused_with_its_entry(text: str, words: str):
    with pytest.raises(wl.UsageError, match=words):
        as_given(text)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"weather = {'[' * 5000}{']' * 5000}", "nested too deep"),
        (f"weather = {'9' * 5000}", "digits"),
        ("# " + "x" * (16 << 20), "has more than 16 MiB"),
        ("[[weather]]\nevery = 1e-9\nheal = true", "too often; give 1us or more"),
    ],
)
def test_a_file_that_would_take_all_time_or_room_is_refused(
    content: str, words: str, tmp_path: Path
):
    place = tmp_path / "storm.toml"
    place.write_text(content)
    with pytest.raises(wl.UsageError, match=words):
        weather_of(read_weather(place), SYSTEM, place)


def test_a_pipe_is_no_file_with_weather(tmp_path: Path):
    place = tmp_path / "pipe"
    os.mkfifo(place)
    for given in (place, tmp_path):
        with pytest.raises(wl.UsageError, match="is no file with weather"):
            read_weather(given)


def test_a_node_that_is_called_any_is_that_node():
    called = wl.NodeId("any")
    system = wl.System(
        {A: Idle(), called: Idle()}, faults=wl.Faults(crashes=9, restarts=9)
    )
    text = "at 1s crash any"
    assert [one.node for one in weather_of(entries_of(text), system, text)] == [called]


def test_a_comma_between_nodes_is_told():
    with pytest.raises(wl.UsageError, match=r"'b' is no weather; .* and spaces nodes"):
        entries_of("at 20s crash a, b")


def test_weather_that_befalls_nothing_is_told():
    vain = "weather that never found what it befalls"
    late = "weather after the end of the runs, 60 s"
    idle = "at 1s restart any, at 2s crash a, at 3s crash a, at 4s heal, at 5s cut a b"
    # The first note says that there is no property.
    found = wl.simulate(SYSTEM, weather=f"{idle}, at 70s crash b, every 65s reset b")
    assert found.notes[1:] == (
        f"{vain}: at 1 s restart any, at 3 s crash a, at 4 s heal",
        f"{late}: at 70 s crash b, every 65 s at 65 s reset b",
    )
    again = wl.simulate(SYSTEM, weather="every 2s crash a, at 9s restart a")
    assert len(again.notes) == 1
    down = wl.simulate(SYSTEM, weather="at 1s crash a, at 2s crash a")
    assert f"{vain}: at 2 s crash a" in str(down)
