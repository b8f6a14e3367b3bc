"""BitVault: its bugs are found, and the fixed system settles after whatever befalls it."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.zoo.bitvault import SWITCHES, system
from worldline.zoo.bitvault.contents import ContentVault, content_of
from worldline.zoo.bitvault.properties import PROPERTIES, stabilized
from worldline.zoo.bitvault.ring import id_of, neighbours, owner_of, ring

FIRST = {"wids1": 0, "wids2": 0, "wids3": 0}
"""The least seed with which the command of a bug finds it."""

NAMES = [prop.name for prop in PROPERTIES]

slow = pytest.mark.slow
nightly = pytest.mark.nightly


def command(bug: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return the target, the parameters and the options of a bug's command."""
    _, target, *options = shlex.split(zoo.bugs()[f"bitvault-{bug}"].command)
    pairs = list(zip(options[::2], options[1::2], strict=True))
    given = dict(value.split("=", 1) for option, value in pairs if option == "-p")
    return target, given, {option: v for option, v in pairs if option != "-p"}


def simulate(made: wl.System, **options: Any) -> wl.SimulateReport:
    return wl.simulate(made, traces=False, threads=1, **options)


def alarms(report: wl.SimulateReport) -> dict[str, int]:
    """By property, in how many spans it was false while the system was stable."""
    return {row.name: row.alarms.reached for row in report.properties if row.alarms}


@wl.sometimes
def settles(view: wl.View) -> bool:
    return stabilized(view) == 1 and all(prop(view) is not False for prop in PROPERTIES)


# ------------------------------------------------------------------------------- ring


def test_an_object_belongs_to_the_next_node_on_the_ring():
    nodes = wl.ids(*[f"b{number}" for number in range(1, 9)])
    circle = ring(nodes)
    # By the first digits of `printf b6 | sha1sum`, and so on.
    assert " ".join(node.name for node in circle) == "b6 b3 b2 b1 b4 b8 b5 b7"
    for key in (f"o{number}" for number in range(100)):
        behind = [node for node in nodes if id_of(node.name) < id_of(key)]
        ahead = [node for node in nodes if node not in behind]
        nearest = min(ahead or nodes, key=lambda node: id_of(node.name))
        assert owner_of(key, circle) == nearest


@pytest.mark.parametrize(("size", "count"), [(1, 0), (2, 1), (4, 3), (5, 4), (8, 4)])
def test_neighbours_are_the_two_on_either_side_none_twice(size: int, count: int):
    nodes = ring(wl.ids(*[f"b{number}" for number in range(1, size + 1)]))
    near = {node: neighbours(node, nodes) for node in nodes}
    assert all(len(set(peers)) == len(peers) == count for peers in near.values())
    assert all(me in near[peer] for me, peers in near.items() for peer in peers)


# ------------------------------------------------------------------------------- bugs


@slow
@pytest.mark.parametrize(
    "bug",
    [
        "wids1",
        pytest.param("wids2", marks=nightly),
        pytest.param("wids3", marks=nightly),
    ],
)
def test_a_bug_breaks_its_property(bug: str):
    target, given, options = command(bug)
    assert given == {"bugs": bug}
    assert FIRST[bug] < int(options["--seeds"])
    report = simulate(
        load(target, given),
        weather=options["--weather"],
        seconds=float(options["--seconds"]),
        seed=FIRST[bug],
        properties=[options["--property"]],
    )
    assert report.verdict is wl.Verdict.VIOLATED
    assert alarms(report) == {options["--property"]: 1}


@nightly
@pytest.mark.parametrize("bug", SWITCHES)
def test_the_command_of_a_bug_finds_it_at_the_first_seed_that_has_it(bug: str):
    target, given, options = command(bug)
    report = simulate(
        load(target, given),
        weather=options["--weather"],
        seconds=float(options["--seconds"]),
        seeds=int(options["--seeds"]),
        properties=[options["--property"]],
    )
    assert (report.verdict, report.seed) == (wl.Verdict.VIOLATED, FIRST[bug])


@nightly
def test_a_tempo_changes_all_times_and_nothing_else():
    """Ten times as fast, in weather ten times as fast: found after a tenth of the time."""
    weather = "at 6s crash any, at 6.5s restart any"
    found = simulate(
        system(tempo=0.1, bugs=("wids2",)),
        weather=weather,
        latency="uniform 1ms 5ms",
        rate=10,
        seconds=20,
        properties=["complete_reference"],
    )
    assert found.verdict is wl.Verdict.VIOLATED
    assert found.at is not None
    assert 9.5 < found.at < 15


@slow
@pytest.mark.parametrize("network", ["datagrams", "streams"])
def test_contents_travel_with_replicas_and_are_retrieved_at_any_node(network: str):
    made = system(size=4, objects=8, tempo=0.1, content=100, network=network)
    names = [f"o{number}" for number in range(1, 9)]

    @wl.sometimes
    def all_is_retrieved(view: wl.View) -> bool:
        return bool(view[made.ids[3]].retrieved == dict.fromkeys(names, 100))

    @wl.safety
    def replicas_have_contents(view: wl.View) -> bool:
        return view.for_each_node(
            lambda view, node: (
                view[node].contents
                == {key: content_of(key, 100) for key in view[node].replicas}
            )
        )

    report = simulate(
        made.replace(
            workload=[
                *made.workload,
                wl.whenever(
                    ContentVault.get,
                    nodes=[made.ids[3]],
                    key=wl.one_of(*names),
                ),
            ],
            properties=[settles, all_is_retrieved, replicas_have_contents],
        ),
        seconds=20,
        rate=10,
        weather="at 6s crash any, at 9s restart any",
    )
    verdicts = {row.name: row.verdict for row in report.properties}
    assert verdicts == {
        "settles": wl.Verdict.HOLDS,
        "all_is_retrieved": wl.Verdict.HOLDS,
        "replicas_have_contents": wl.Verdict.UNKNOWN,
    }


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"no bug .wids4.; there are wids1"):
        system(bugs=("wids4",))
    with pytest.raises(ValueError, match="network is one of datagrams, streams"):
        system(network="message_set")
    for given in ({"size": 0}, {"degree": 0}, {"objects": -1}, {"tempo": 0.0}):
        with pytest.raises(ValueError, match="must be positive"):
            system(**given)


# -------------------------------------------------------------------------- the fixed


@slow
def test_the_fixed_system_settles_after_failures_short_and_long():
    report = simulate(
        system().replace(properties=[*PROPERTIES, settles]),
        weather="at 40s crash b1 b4, at 45s restart b4, at 70s restart b1, at 72s reset any",
        seconds=160,
    )
    assert report.verdict is not wl.Verdict.VIOLATED
    assert alarms(report) == dict.fromkeys(NAMES, 0)
    (row,) = (row for row in report.properties if row.name == "settles")
    assert row.verdict is wl.Verdict.HOLDS


@slow
def test_few_nodes_keep_as_many_replicas_as_there_are_nodes():
    report = simulate(
        system(size=2, objects=4).replace(properties=[*PROPERTIES, settles]),
        seconds=80,
        weather="at 20s crash b1, at 25s restart b1",
    )
    assert alarms(report) == dict.fromkeys(NAMES, 0)
    (row,) = (row for row in report.properties if row.name == "settles")
    assert row.verdict is wl.Verdict.HOLDS


END = 300.0
"""When the last node of a storm comes back."""


def storm(seed: int, *, loses: bool) -> str:
    """Weather that crashes and resets nodes for four minutes, short and long."""
    draw = random.Random(seed)
    return ", ".join([*_gusts(draw, loses=loses), *_calm(draw)])


def _gusts(draw: random.Random, *, loses: bool) -> Iterator[str]:
    time = 45.0
    while (time := time + draw.random() * draw.choice([0.1, 2, 10, 40])) < END - 20:
        kind = draw.random()
        if kind < 0.15:
            yield f"at {time:.3f}s reset any"
        elif kind < 0.6:
            yield f"at {time:.3f}s crash any"
            back = time + draw.choice([1, 5, 14, 16, 20, 60]) * draw.uniform(0.8, 1.2)
            if back < END and draw.random() < 0.8:
                yield f"at {back:.3f}s restart any"
        elif loses:
            yield f"at {time:.3f}s loss {draw.choice([0, 0.1, 0.5, 0.9])}"
            yield f"at {time:.3f}s delay {draw.choice([1, 1, 10, 100])}"
        else:
            yield f"at {time:.3f}s restart any"


def _calm(draw: random.Random) -> Iterator[str]:
    for _ in range(draw.choice([6, 7, 8])):  # one or two may stay down
        yield f"at {END + draw.random():.3f}s restart any"
    yield f"at {END}s loss 0"
    yield f"at {END}s delay 1"


@nightly
@pytest.mark.parametrize("seed", range(100))
def test_it_settles_after_a_storm_of_crashes(seed: int):
    report = simulate(
        system(), weather=storm(seed, loses=False), seconds=END + 120, seed=seed
    )
    assert alarms(report) == dict.fromkeys(NAMES, 0)


@nightly
@pytest.mark.parametrize("seed", range(40))
def test_it_settles_after_a_storm_that_loses_doubles_and_delays_messages(seed: int):
    """Judged at the end alone: nobody is stable while most messages are lost."""
    made = system().replace(properties=[settles])
    weather = storm(seed, loses=True)
    report = simulate(
        made, weather=weather, duplicate=0.05, seconds=END + 300, seed=seed
    )
    (row,) = report.properties
    assert row.verdict is wl.Verdict.HOLDS


@nightly
def test_nothing_is_violated_under_the_weather_of_any_bug():
    for bug in SWITCHES:
        target, _, options = command(bug)
        report = simulate(
            load(target, {}), weather=options["--weather"], seconds=200, seeds=20
        )
        assert report.verdict is wl.Verdict.UNKNOWN
        assert alarms(report) == dict.fromkeys(NAMES, 0)
