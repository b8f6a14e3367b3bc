"""Minimised traces: as short as they can be, possible, and of the same violation."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shrink.detours import machines
from tests.shrink.legality import events_of, illegal

import worldline as wl
from worldline.trace.format import read


def walked(system: wl.System, out: Path, seed: int = 0) -> wl.WalkReport:
    """A random run that violates something, in a file."""
    return wl.walk(
        system, seed=seed, out=out, events=3_000, max_steps=60, scheduler="uniform"
    )


def compared(seeds: range, folder: Path) -> list[tuple[int, int, int]]:
    """Seed, deliveries of the minimised run, and of a shortest one, of each system."""
    sizes = []
    for seed in seeds:
        system = machines(seed, reordering=bool(seed % 2))
        out = folder / f"{seed}.wl"
        found = walked(system, out).violated
        if found is None or not found.steps:
            continue
        report = wl.minimize(out, system=system, certify=0)
        run = report.properties[0].run
        assert run is not None
        assert illegal(run) == ""
        assert report.trace is not None
        assert wl.replay(report.trace, system).reproduced
        best = wl.check(system, traces=False).expect_violated("nobody_is_lost").steps
        assert best is not None
        sizes.append((seed, report.final.deliveries, best))
    return sizes


@pytest.mark.slow
def test_of_small_systems_the_result_is_a_shortest_run(tmp_path: Path):
    sizes = compared(range(31, 41), tmp_path)
    assert len(sizes) >= 5
    assert [one for one in sizes if one[1] != one[2]] == []


def searched(seed: int, folder: Path) -> wl.MinimizeReport:
    """The minimised run, where all smaller ones may be searched."""
    system = machines(seed, reordering=bool(seed % 2))
    return wl.minimize(folder / f"{seed}.wl", system=system)


@pytest.mark.slow
def test_a_shorter_run_that_no_pass_finds_is_met_by_the_search(tmp_path: Path):
    system = machines(1131, reordering=True)
    walked(system, tmp_path / "1131.wl")
    report = searched(1131, tmp_path)
    assert (report.final.deliveries, report.lower_bound) == (5, 5)
    assert report.certified


def test_minimising_twice_changes_nothing(tmp_path: Path):
    out, system = tmp_path / "run.wl", machines(1)
    walked(system, out)
    once = wl.minimize(out, system=system, certify=0)
    assert once.final.deliveries < once.initial.deliveries
    assert once.trace == tmp_path / "run-min.wl"
    again = wl.minimize(once.trace, system=system, certify=0)
    assert again.final == again.initial == once.final
    assert events_of(again) == events_of(once)


@wl.node
class Lock:
    """Opens by a number, or by force."""

    number: tuple[int, ...] = ()
    blows: int = 0

    @wl.call(when=lambda self, digit: len(self.number) < 4)
    def dial(self, ctx: wl.Context, digit: int) -> None:
        self.number += (digit,)

    @wl.call
    def strike(self, ctx: wl.Context) -> None:
        self.blows += 1


@wl.safety
def it_is_shut(view: wl.View) -> bool:
    [lock] = view.nodes
    number: tuple[int, ...] = view[lock].number
    opened = number[:3] == (3, 1, 4) and number[3:] > (0,)
    return bool(view[lock].blows < 8) and not opened


def locks() -> wl.System:
    [lock] = wl.ids("lock")
    return wl.System(
        {lock: Lock()},
        workload=[
            wl.script(lock, [Lock.strike] * 8),
            wl.whenever(Lock.dial, digit=wl.integers(0, 6)),
        ],
        properties=[it_is_shut],
        name="lock",
    )


def test_minimising_twice_changes_nothing_of_what_the_last_search_has_met(
    tmp_path: Path,
):
    out = tmp_path / "run.wl"
    wl.walk(locks(), out=out, scheduler="uniform")
    once = wl.minimize(out, system=locks(), certify=8_000)
    assert once.certified
    assert once.final.deliveries == 4
    assert once.trace is not None
    again = wl.minimize(once.trace, system=locks(), certify=8_000)
    taken = [
        [step.choices for step in read(each.trace).run]
        for each in (once, again)
        if each.trace is not None
    ]
    assert taken == [[(3,), (1,), (4,), (1,)]] * 2


@pytest.mark.slow
def test_what_needs_every_event_is_certified(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.check("zoo:brokentree", parameters={"bugs": "bt2"}, out=out)
    report = wl.minimize(out)
    assert report.certified
    assert report.lower_bound == report.final.deliveries
    assert report.level == "closed-world"
    assert not report.slipped


def test_the_original_is_left_as_it_is(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.walk("zoo:brokentree", parameters={"bugs": "bt2"}, out=out)
    before = out.read_bytes()
    wl.minimize(out, certify=0, max_events=2_000)
    assert out.read_bytes() == before


def test_events_that_are_used_up_end_it_with_what_there_is(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.walk("zoo:brokentree", parameters={"bugs": "bt2"}, out=out)
    report = wl.minimize(out, max_events=50, traces=False)
    assert report.bound == "events"
    assert report.level is None
    assert report.lower_bound is None
    assert report.trace is None
    assert report.final.deliveries <= report.initial.deliveries


@wl.message
class Order:
    number: int


@wl.node
class Till:
    """Takes orders, and falls over the third one that it is told of by a call."""

    orders: int = 0

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        ctx.log("nothing new")

    @wl.call
    def order(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, Order(self.orders))

    @wl.on(Order)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Order) -> None:
        self.orders += 1
        if self.orders == 2:
            self.fail()

    def fail(self) -> None:
        raise LookupError("no paper left")


def till(**options: object) -> wl.System:
    (one,) = wl.ids("till")
    calls = [wl.whenever(Till.look), wl.whenever(Till.order)]
    return wl.System({one: Till()}, workload=calls, name="till")


def test_an_exception_stays_the_same_exception(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.walk(till(), out=out, scheduler="uniform", seed=3)
    report = wl.minimize(out, system=till())
    assert [event[1:3] for event in events_of(report)] == [
        ("call", "order"),
        ("call", "order"),
        ("deliver", "Order"),
        ("deliver", "Order"),
    ]
    assert report.violated is not None
    # As whoever found it says, and not another word.
    assert (report.violated.name, report.violated.kind) == ("exception", "safety")
    end = read(report.trace or "").steps[-1].failure
    assert end is not None
    assert end.name == "LookupError"


@wl.node
class Frail:
    crashed_with: int = 0
    saved: int = wl.durable(default=0)

    @wl.call
    def save(self, ctx: wl.Context) -> None:
        self.saved = min(self.saved + 1, 3)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.crashed_with = self.saved


@wl.safety
def nothing_is_left(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].crashed_with == 0)


def test_faults_that_undo_each_other_are_left_out_together(tmp_path: Path):
    def system() -> wl.System:
        return wl.System(
            dict.fromkeys(wl.ids(*"ab"), Frail()),
            workload=[wl.whenever(Frail.save)],
            faults=wl.Faults(crashes=6, restarts=6),
            properties=[nothing_is_left],
            name="frail",
        )

    out = tmp_path / "run.wl"
    wl.walk(system(), out=out, weights={"crash": 100, "restart": 100, "save": 1})
    report = wl.minimize(out, system=system())
    assert [event[1:3] for event in events_of(report)] == [
        ("call", "save"),
        ("crash", ""),
        ("restart", ""),
    ]
    assert (report.final.deliveries, report.final.externals) == (1, 3)
    assert report.lower_bound is None  # with faults, steps are no deliveries


def test_overtaking_is_a_wish_that_the_result_tells(tmp_path: Path):
    system, out = machines(36, reordering=False), tmp_path / "run.wl"
    walked(system, out)
    free = wl.minimize(out, system=system, reorder=True)
    assert free.network == "reordering"
    assert free.properties[0].run is not None
    assert free.properties[0].run.header.network["reordering"] is True
    kept = wl.minimize(out, system=system)
    assert kept.network == "declared"
    assert free.final.deliveries <= kept.final.deliveries


def test_overtaking_is_refused_where_it_happens_anyway(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.walk("zoo:brokentree", parameters={"bugs": "bt2"}, out=out)
    with pytest.raises(wl.UsageError, match="reorder has no meaning"):
        wl.minimize(out, reorder=True)


@pytest.mark.slow
def test_a_run_that_violates_nothing_is_refused(tmp_path: Path):
    wl.walk(
        "zoo:randtree",
        parameters={"bugs": "rt13", "start": "rt13", "resets": "1"},
        emit_live=1,
        out=tmp_path / "live",
    )
    (live,) = (tmp_path / "live").glob("*.wl")
    with pytest.raises(wl.UsageError, match="violates nothing"):
        wl.minimize(live)


def test_a_run_that_goes_otherwise_now_is_refused_with_the_first_difference(
    tmp_path: Path,
):
    out = tmp_path / "run.wl"
    wl.walk(till(), out=out, scheduler="uniform", seed=3)

    @wl.node
    class Other:
        orders: int = 0

        @wl.call
        def look(self, ctx: wl.Context) -> None:
            ctx.log("something new")

        @wl.call
        def order(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Order(self.orders))

        @wl.on(Order)
        def take(self, ctx: wl.Context, src: wl.NodeId, msg: Order) -> None:
            self.orders += 2

    (one,) = wl.ids("till")
    calls = [wl.whenever(Other.look), wl.whenever(Other.order)]
    changed = wl.System({one: Other()}, workload=calls, name="till")
    with pytest.raises(
        wl.InputError, match=r"not replay any more: at step \d+"
    ) as told:
        wl.minimize(out, system=changed)
    assert "\n" not in str(told.value).partition(" (")[0]
