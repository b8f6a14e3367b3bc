"""Simulated nodes that see failures coming: reported, refused at once, refused in advance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.steer.steering.holders import system

import worldline as wl
from worldline.cli.progress import line
from worldline.model.verdicts import Verdict
from worldline.steer import simulating
from worldline.steer.simulating import SteeredReport
from worldline.trace.format import read

NETWORKS = ("streams", "datagrams")


@wl.node
class Hermit:
    """Talks to nobody, so that nobody knows anything of it."""

    holds: bool = False

    @wl.call
    def take(self, ctx: wl.Context) -> None:
        self.holds = not self.holds


def apart() -> wl.System:
    @wl.safety
    def one_at_most(view: wl.View) -> bool:
        return len([node for node in view.nodes if view[node].holds]) < 2

    return wl.System(
        {node: Hermit() for node in wl.ids("a", "b")},
        workload=[wl.whenever(Hermit.take)],
        properties=[one_at_most],
        name="apart",
    )


@wl.node
class Friendly:
    """Looks for a friend of whom it knows nothing."""

    friend: wl.NodeId | None = None
    is_idle: bool = True

    @wl.call(when=lambda self: self.friend is None)
    def choose(self, ctx: wl.Context) -> None:
        self.friend = ctx.nodes[1]


def waiting() -> wl.System:
    @wl.safety
    def the_friend_is_idle(view: wl.View) -> bool:
        friend = view[view.nodes[0]].friend
        return friend is None or view[friend].is_idle

    one, other = wl.ids("a", "b")
    return wl.System(
        {one: Friendly(), other: Friendly(friend=one)},
        workload=[wl.script(one, [Friendly.choose])],
        properties=[the_friend_is_idle],
        name="waiting",
    )


@wl.node
class Counter:
    """Keeps what it can work out again out of its checkpoints."""

    seen: int = 0
    digits: tuple[int, ...] = wl.field(default=(), checkpoint=False)

    @wl.rebuild
    def fill(self) -> None:
        self.digits = tuple(range(self.seen))

    @wl.call
    def count(self, ctx: wl.Context) -> None:
        self.seen += 1
        self.digits = tuple(range(self.seen))


def left_out() -> wl.System:
    (one,) = wl.ids("one")

    @wl.safety
    def few(view: wl.View) -> bool:
        return len(view[one].digits) < 900

    return wl.System(
        {one: Counter()},
        workload=[wl.whenever(Counter.count)],
        properties=[few],
        name="counter",
    )


@wl.message
class Hello:
    """Says that somebody is there."""


@wl.node
class Lamp:
    """Is lit from the beginning, or later, though another one may be."""

    other: wl.NodeId
    after: float
    is_lit: bool = False

    @wl.neighbours
    def beside(self) -> list[wl.NodeId]:
        return [self.other]

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        self.is_lit = not self.after
        if self.after:
            ctx.set_timer(Lamp.light, after=self.after)
        ctx.send(self.other, Hello())

    @wl.on(Hello)
    def heard(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        pass

    @wl.timer
    def light(self, ctx: wl.Context) -> None:
        self.is_lit = True


def lamps() -> wl.System:
    early, late = wl.ids("early", "late")

    @wl.safety
    def one_is_lit(view: wl.View) -> bool:
        return not (view[early].is_lit and view[late].is_lit)

    return wl.System(
        {early: Lamp(late, 0.0), late: Lamp(early, 25.0)},
        network=wl.datagrams(),
        predict=wl.Faults(),
        properties=[one_is_lit],
        name="lamps",
    )


def simulated(network: str, mode: Any, folder: Path, **given: Any) -> Any:
    return wl.simulate(
        system(network),
        mode=mode,
        seconds=60.0,
        threads=1,
        out=folder / "run.wl",
        **given,
    )


@pytest.mark.parametrize("network", NETWORKS)
def test_without_a_mode_the_failure_comes(network: str, tmp_path: Path) -> None:
    report = simulated(network, "off", tmp_path)
    assert report.verdict is Verdict.VIOLATED
    assert report.mode is wl.SteeringMode.OFF
    assert "mode" not in report.to_json()
    assert "steering" not in str(report)
    assert report.at == pytest.approx(35.0, abs=0.1)


@pytest.mark.parametrize("network", NETWORKS)
def test_a_prediction_is_reported_once_and_replays(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(network, "predict", tmp_path)
    assert isinstance(report, SteeredReport)
    assert report.verdict is Verdict.VIOLATED, "a prediction changes nothing"
    (found,) = report.predictions
    assert found.property == "one_holder"
    assert found.count == report.steering.predicted > 1
    assert found.actions == {"reported": found.count}
    assert found.file is not None
    again = wl.replay(found.file, system(network))
    assert again.verdict is Verdict.VIOLATED
    assert again.steps == found.steps


def test_who_predicts_behaves_as_who_does_not(tmp_path: Path) -> None:
    runs = []
    for mode in ("off", "predict"):
        simulated("streams", mode, tmp_path, traces=True)
        runs.append(read(tmp_path / "run.wl").steps)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("network", NETWORKS)
def test_what_is_predicted_is_refused(network: str, tmp_path: Path) -> None:
    report = simulated(network, "steer", tmp_path)
    assert report.verdict is Verdict.UNKNOWN
    assert report.steering.blocked >= 1
    assert report.steering.refused == 0


@pytest.mark.parametrize("network", NETWORKS)
def test_the_immediate_check_refuses_by_itself(network: str, tmp_path: Path) -> None:
    report = simulated(network, "check", tmp_path)
    assert report.verdict is Verdict.UNKNOWN
    assert report.steering.refused == 1
    assert report.steering.snapshots > 0
    assert report.steering.predictions == 0


def test_only_nodes_that_are_named_predict(tmp_path: Path) -> None:
    report = simulated("streams", "predict", tmp_path, predicting=["server"])
    (found,) = report.predictions
    assert set(found.nodes) == {"server"}


def test_a_node_that_cannot_act_hands_its_finding_to_one_that_can(
    tmp_path: Path,
) -> None:
    report = simulated("datagrams", "steer", tmp_path, predicting=["watch"])
    (found,) = report.predictions
    assert set(found.nodes) == {"watch"}
    assert report.steering.elsewhere == found.actions["elsewhere"] > 0
    assert report.steering.handed > 0
    assert report.steering.blocked > 0, "by a filter of the node that was told"


def test_a_node_that_is_none_cannot_predict(tmp_path: Path) -> None:
    with pytest.raises(wl.UsageError, match="third is no node"):
        simulated("streams", "predict", tmp_path, predicting=["third"])


@pytest.mark.parametrize(
    ("mode", "option"),
    [
        ("off", {"gather_every": 5.0}),
        ("off", {"prediction_states": 10}),
        ("check", {"predicting": ["server"]}),
        ("predict", {"on_unseen": "refuse"}),
    ],
)
def test_an_option_that_says_nothing_in_a_mode_is_refused(
    mode: str, option: dict[str, Any], tmp_path: Path
) -> None:
    (name,) = option
    with pytest.raises(wl.UsageError, match=f"{name} has no meaning with mode {mode}"):
        simulated("streams", mode, tmp_path, **option)


def test_a_check_without_an_answer_is_not_good_news() -> None:
    report = wl.simulate(apart(), mode="check", seconds=0.5, threads=1, traces=False)
    assert isinstance(report, SteeredReport)
    assert 0 < report.steering.checked <= report.steering.unseen
    assert any("no event could be judged" in note for note in report.notes)


def test_the_report_says_which_property_was_unseen_and_why() -> None:
    report = wl.simulate(apart(), mode="check", seconds=0.5, threads=1, traces=False)
    (unseen,) = report.unseen
    assert unseen.property == "one_at_most"
    assert unseen.count == report.steering.unseen == sum(unseen.lacking.values())
    assert set(unseen.lacking) == {"a", "b"}
    assert report.to_json()["unseen"] == [unseen.to_json()]
    assert "unseen one_at_most" in str(report)


def test_a_run_in_which_what_is_unknown_is_refused_says_so_and_counts_truly() -> None:
    report = wl.simulate(
        waiting(), mode="check", seconds=200.0, threads=1, on_unseen="refuse"
    )
    assert isinstance(report, SteeredReport)
    assert report.steering.refused == report.steering.doubted > 100
    assert len(report.refusals) == 100
    assert report.refusals[0].why == (
        "it would be unknown whether the_friend_is_idle is true: nothing is known of b"
    )
    said = report.to_json()
    assert said["refused_in_all"] == report.refused_in_all == report.steering.refused
    assert (
        f"... and {report.refused_in_all - 10:,} more; --json has the first"
        in f"{report}"
    )
    assert any("--on-unseen refuse" in note for note in report.notes)


def test_what_is_made_from_other_fields_changes_with_them() -> None:
    report = wl.simulate(
        left_out(),
        mode="predict",
        seconds=30.0,
        threads=1,
        traces=False,
        prediction_states=10,
    )
    assert isinstance(report, SteeredReport)
    assert report.events > 20
    assert report.steering.snapshots > 10, "not only every ten seconds"


def test_the_same_seed_steers_the_same_run(tmp_path: Path) -> None:
    one, other = (simulated("streams", "steer", tmp_path) for _ in range(2))
    assert one.steering == other.steering
    assert one.events == other.events


def test_the_report_says_what_was_done_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated("streams", "steer", tmp_path)
    said = report.to_json()
    assert said["mode"] == "steer"
    assert said["steering"]["blocked"] == report.steering.blocked >= 1
    (found,) = said["predictions"]
    assert found["property"] == "one_holder"
    assert f"{report.steering.blocked} blocked" in str(report)


def test_parameters_make_the_system_once_with_a_mode_as_without_one() -> None:
    given: Any = {"parameters": {"size": "3"}, "seconds": 1.0, "traces": False}
    for mode in ("off", "steer"):
        report = wl.simulate("zoo:paxos", mode=mode, threads=1, **given)
        assert report.system == "paxos"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gather_bandwidth": "10k"}, "gather_bandwidth has no meaning with mode off"),
        ({"mode": "check", "prediction_latency": 1.0}, "no meaning with mode check"),
        ({"mode": "predict", "on_unseen": "allow"}, "no meaning with mode predict"),
        ({"mode": "steer", "gather_bandwidth": "fast"}, "'fast' is no bandwidth"),
        ({"mode": "steer", "predicting": ["x"]}, "x is no node of holders"),
    ],
)
def test_options_that_say_nothing_are_refused(given: Any, said: str) -> None:
    with pytest.raises(wl.UsageError, match=said):
        wl.simulate(system("streams"), **given)


def test_a_bandwidth_may_be_a_number_or_a_text(tmp_path: Path) -> None:
    one = simulated("streams", "predict", tmp_path, gather_bandwidth="20k")
    other = simulated("streams", "predict", tmp_path, gather_bandwidth=20_000)
    assert one.steering == other.steering


@wl.safety
def nobody_is_late(view: wl.View) -> bool:
    return view.time < 60


@pytest.mark.parametrize("mode", ["check", "predict", "steer"])
def test_a_property_that_asks_for_the_time_is_left_out_and_named(mode: Any) -> None:
    made = system("datagrams")
    late = made.replace(properties=[nobody_is_late, *made.properties])
    report = wl.simulate(late, mode=mode, seconds=15.0, threads=1, traces=False)
    (note,) = (one for one in report.notes if "nobody_is_late" in one)
    assert note.startswith("nobody_is_late asks for the time or a gauge")
    assert all(one.property != "nobody_is_late" for one in report.predictions)
    if mode == "predict":
        assert report.predictions


EARLY = """
import worldline as wl

@wl.safety
def it_is_early(view):
    return view.time < 1000
"""


@pytest.mark.parametrize("mode", ["predict", "check", "steer"])
def test_a_predicate_that_asks_for_the_time_is_left_out_and_named(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.py").write_text(EARLY, encoding="utf-8")
    report = simulated("streams", mode, tmp_path, predicates=tmp_path / "early.py")
    assert [row.name for row in report.properties] == ["one_holder", "it_is_early"]
    (named,) = [note for note in report.notes if "it_is_early" in note]
    assert "asks for the time or a gauge" in named
    counts = report.steering
    assert (counts.predicted > 0) is (mode != "check"), "of the others"
    assert (counts.refused > 0) is (mode == "check")
    assert not any("could be judged" in note for note in report.notes)


def test_the_properties_that_are_chosen_steer_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.py").write_text(EARLY, encoding="utf-8")
    for mode in ("check", "steer"):
        report = simulated(
            "streams",
            mode,
            tmp_path,
            predicates=tmp_path / "early.py",
            properties=["it_is_early"],
        )
        assert report.refused_in_all == report.steering.predicted == 0
        assert report.verdict is Verdict.UNKNOWN
    with pytest.raises(wl.UsageError, match="has no property 'early'"):
        simulated("streams", "check", tmp_path, properties=["early"])


def test_it_is_shown_how_far_a_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulating, "_SHOWN_EVERY_S", 0.0)
    shown: list[wl.Progress] = []
    simulated("streams", "check", tmp_path, progress=shown.append)
    times = [t for one in shown if (t := one.virtual_seconds) is not None]
    assert len(times) > 10
    assert times == sorted(times)
    assert times[-1] <= 60
    assert line(shown[0]).startswith(f"{times[0]:.1f} virtual seconds, ")


def test_a_prediction_that_takes_long_keeps_its_filters(tmp_path: Path) -> None:
    found = []
    for latency in (0.1, 3.0, 12.0, 25.0):  # a snapshot is good for 20 seconds
        report = simulated("streams", "steer", tmp_path, prediction_latency=latency)
        assert report.verdict is Verdict.UNKNOWN
        found.append([(one.time, one.event) for one in report.refusals])
    assert len(found[0]) > 20
    assert all(one == found[0] for one in found[1:])


def test_who_does_not_answer_any_more_is_not_forgotten_at_once(tmp_path: Path) -> None:
    verdicts = [
        wl.simulate(
            lamps(), mode=mode, seconds=28.0, weather="at 15s cut early", out=None
        ).verdict
        for mode in ("predict", "steer")
    ]
    assert verdicts == [Verdict.VIOLATED, Verdict.UNKNOWN]
