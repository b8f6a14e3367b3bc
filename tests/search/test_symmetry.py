"""Symmetry reduction: what users see of it, and claims that are not true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.alike import Space
from tests.shares import share

import worldline as wl
from worldline.engine.native import library
from worldline.model.verdicts import Verdict
from worldline.search.engines import choose
from worldline.zoo import toy, twophase

ENGINE: Any = choose("auto").engine
ENGINES: list[Any] = ["python", "native"] if library.available() else ["python"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def counts(report: wl.Report) -> tuple[int, int, int]:
    return report.states, report.generated, report.depth


@pytest.mark.parametrize(
    ("n", "states", "generated"),
    [
        (1, 12, 20),
        (2, 34, 94),
        (3, 80, 318),
        (4, 166, 869),
        (5, 314, 2_048),
        pytest.param(6, 553, 4_328, marks=pytest.mark.nightly),
        pytest.param(7, 920, 8_410, marks=pytest.mark.nightly),
        pytest.param(8, 1_461, 15_287, marks=pytest.mark.nightly),
        pytest.param(9, 2_232, 26_316, marks=pytest.mark.nightly),
        pytest.param(10, 3_300, 43_298, marks=pytest.mark.nightly),
        pytest.param(11, 4_744, 68_566, marks=pytest.mark.nightly),
        pytest.param(12, 6_656, 105_081, marks=pytest.mark.nightly),
        pytest.param(13, 9_142, 156_536, marks=pytest.mark.nightly),
        pytest.param(14, 12_323, 227_468, marks=pytest.mark.nightly),
    ],
)
def test_two_phase_commit_has_the_known_orbits(n: int, states: int, generated: int):
    for engine in ENGINES:
        system = twophase.system(n=n, symmetry=True)
        report = wl.check(system, traces=False, engine=engine)
        assert report.engine == engine
        assert counts(report) == (states, generated, 3 * n + 2)
        report.expect_holds()


def test_without_it_the_counts_are_the_plain_ones_and_the_steps_are_the_same():
    folded = wl.check(twophase.system(n=3, symmetry=True), traces=False)
    plain = wl.check(twophase.system(n=3, symmetry=True), traces=False, symmetry=False)
    assert counts(plain) == (288, 1_146, 11)
    assert [p.steps for p in folded.properties] == [p.steps for p in plain.properties]
    assert "symmetry: 3! folded" in folded.assumptions
    assert not any("symmetry" in text for text in plain.assumptions)


def test_nodes_that_name_each_other_are_symmetric():
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: toy.Peer(b), b: toy.Peer(a)},
        network=wl.datagrams(loss=False, duplication=False),
        workload=[wl.whenever(toy.Peer.do_query)],
        symmetry=[wl.symmetric([a, b])],
    )
    orbits = Space(system, 100).orbits()
    assert wl.check(system, traces=False).states == len(orbits) < 16


@wl.node
class Fan:
    """Points at a node, perhaps itself, once and for all."""

    idol: wl.NodeId | None = None

    @wl.call(when=lambda self: self.idol is None)
    def admire(self, ctx: wl.Context) -> None:
        self.idol = ctx.choose(list(ctx.nodes))


@pytest.mark.parametrize(
    ("n", "states"), [(2, 6), (3, 16), (4, 45), (5, 121), (6, 338), (7, 929)]
)
def test_partial_functions_are_counted_up_to_names(n: int, states: int):
    """The On-Line Encyclopedia of Integer Sequences, A126285: a case full of ties."""
    ids = wl.ids(*[f"fan{number}" for number in range(n)])
    workload = [wl.whenever(Fan.admire)]
    nodes = {node: Fan() for node in ids}
    system = wl.System(nodes, workload=workload, symmetry=[ids])
    for engine in ENGINES[n > 6 :] or ENGINES:
        assert wl.check(system, traces=False, engine=engine).states == states


@pytest.mark.skipif(ENGINE == "python", reason="it is not the kernel that is asked")
def test_more_nodes_than_the_kernel_knows_are_left_to_the_other_engine() -> None:
    def system(n: int) -> wl.System:
        ids = wl.ids(*[f"n{number}" for number in range(n)])
        return wl.System(
            {node: Quiet() for node in ids},
            workload=[wl.whenever(Quiet.rise)],
            symmetry=[ids],
        )

    with pytest.raises(wl.UsageError, match="at most 64 symmetric nodes, not 65"):
        wl.check(system(65), engine="native", traces=False)
    report = wl.check(system(65), max_depth=1, traces=False)
    assert report.engine == "python"
    assert any("at most 64 symmetric nodes" in note for note in report.notes)
    plain = wl.check(system(65), max_depth=1, traces=False, symmetry=False)
    assert plain.engine == ENGINE
    report = wl.check(system(64), traces=False)
    assert (report.engine, report.states) == (ENGINE, 65)


def test_a_depth_first_search_visits_one_state_of_each_orbit() -> None:
    system = twophase.system(n=2, symmetry=True)
    report = wl.check(system, traces=False, depth_first=True, max_depth=20)
    assert (report.engine, report.states) == ("python", 34)


@wl.node
class Quiet:
    """Rises once."""

    risen: bool = False

    @wl.call(when=lambda self: not self.risen)
    def rise(self, ctx: wl.Context) -> None:
        self.risen = True


@wl.message
class Ask:
    """Wants the lock."""


@wl.message
class Grant:
    """The lock is yours."""

    holders: frozenset[wl.NodeId] = frozenset()


@wl.message
class Free:
    """The lock is back."""


@wl.node
class Server:
    """Grants its lock twice if it forgets the first holder."""

    holders: frozenset[wl.NodeId] = frozenset()
    careless: bool = False

    @wl.on(Ask)
    def ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        if not self.holders or (self.careless and len(self.holders) < 2):
            self.holders |= {src}
            ctx.send(src, Grant(self.holders))

    @wl.on(Free)
    def free(self, ctx: wl.Context, src: wl.NodeId, msg: Free) -> None:
        self.holders -= {src}


@wl.node
class Client:
    server: wl.NodeId
    has: bool = False
    beside: frozenset[wl.NodeId] = frozenset()

    @wl.call(when=lambda self: not self.has)
    def want(self, ctx: wl.Context) -> None:
        ctx.send(self.server, Ask())

    @wl.on(Grant)
    def grant(self, ctx: wl.Context, src: wl.NodeId, msg: Grant) -> None:
        self.has = True
        self.beside = msg.holders - {ctx.me}

    @wl.call(when=lambda self: self.has)
    def give_back(self, ctx: wl.Context) -> None:
        self.has = False
        self.beside = frozenset()
        ctx.send(self.server, Free())

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.has = False


@wl.safety
def one_holder(view: wl.View) -> None:
    having = [node for node in view.of(Client) if view[node].has]
    assert len(having) < 2, f"{having} have the lock"


def locks(clients: int = 3, **options: Any) -> wl.System:
    server, *others = wl.ids("server", *[f"c{n}" for n in range(clients)])
    careless = options.pop("careless", True)
    groups = options.pop("groups", [others])
    return wl.System(
        {server: Server(careless=careless), **{c: Client(server) for c in others}},
        workload=[
            wl.script(c, [Client.want, Client.give_back], on_reset="continue")
            for c in others
        ],
        properties=options.pop("properties", [one_holder]),
        symmetry=groups,
        name="locks",
        **options,
    )


NETWORKS: dict[str, dict[str, Any]] = {
    "datagrams with faults": {"faults": wl.Faults(drops=1, duplicates=1)},
    "queues": {"network": wl.datagrams(reordering=False)},
    "streams": {
        "network": wl.streams(buffer=2),
        "faults": wl.Faults(connection_errors=1),
    },
    "resets": {"network": wl.streams(), "faults": wl.Faults(silent_resets=1)},
    "crashes": {"faults": wl.Faults(crashes=1, restarts=1)},
    "partitions": {"faults": wl.Faults(partitions=1)},
    "message set": {"network": wl.message_set()},
}


@pytest.mark.parametrize("options", share(NETWORKS, every=2))
@pytest.mark.parametrize("depth_first", [False, True])
def test_a_violation_is_a_run_of_the_system_itself(
    options: dict[str, Any], depth_first: bool
) -> None:
    bound = 9 if depth_first else None
    system = locks(**options)
    report = wl.check(system, depth_first=depth_first, max_depth=bound)
    failed = report.expect_violated("one_holder")
    assert failed.trace is not None
    replayed = wl.replay(failed.trace, system=locks(**options, groups=[]))
    assert replayed.reproduced
    if not depth_first:
        plain = wl.check(system, symmetry=False, traces=False)
        assert failed.steps == plain.expect_violated("one_holder").steps


@pytest.mark.parametrize(
    "options", share(NETWORKS, but=["datagrams with faults", "streams", "resets"])
)
def test_every_network_has_one_state_of_each_orbit(options: dict[str, Any]) -> None:
    space = Space(locks(2, **options), 20_000)
    for engine in ENGINES:
        report = wl.check(space.system, traces=False, keep_going=True, engine=engine)
        assert report.states == len(space.orbits()) < len(space.rows)


def test_groups_are_permuted_independently() -> None:
    names = ["c0", "c1", "c2", "c3"]

    def of(*groups: list[int]) -> wl.System:
        system = locks(4, careless=False)
        clients = dict(zip(names, system.ids[1:], strict=True))
        return locks_of(clients, [[clients[f"c{n}"] for n in g] for g in groups])

    states = [
        wl.check(of(*groups), traces=False).states
        for groups in ([], [[0, 1]], [[0, 1], [2, 3]], [[0, 2], [3, 1]], [[0, 1, 2, 3]])
    ]
    assert states == sorted(states, reverse=True)
    # Which of two clients are a pair is itself a matter of names.
    assert states[2] == states[3]
    system = of([0, 1], [2, 3])
    assert states[2] == len(Space(system, 50_000).orbits())
    text = "symmetry: 2! · 2! folded"
    assert text in wl.check(system, traces=False).assumptions


def locks_of(clients: dict[str, wl.NodeId], groups: list[list[wl.NodeId]]) -> wl.System:
    (server,) = wl.ids("server")
    return wl.System(
        {server: Server(), **{c: Client(server) for c in clients.values()}},
        workload=[wl.script(c, [Client.want]) for c in clients.values()],
        properties=[one_holder],
        symmetry=groups,
    )


def test_an_exception_and_a_deadlock_are_runs_of_the_system_itself() -> None:
    @wl.safety
    def nothing(view: wl.View) -> bool:
        return True

    system = locks(careless=False, properties=[nothing])
    report = wl.check(system, deadlock=True)
    stuck = report.expect_violated("deadlock")
    assert stuck.trace is not None
    assert wl.replay(stuck.trace, system=locks(careless=False)).reproduced


def test_a_history_of_symmetric_clients_is_put_in_order() -> None:
    """Clients of a register are in a history in order of their ids."""

    def invoked(step: wl.Step) -> Any:
        if step.event.kind is wl.Kind.CALL and step.event.name == "want":
            return [(step.node, wl.histories.Write(step.node))]
        return None

    def responded(step: wl.Step) -> Any:
        return [(step.node, None)] if step.event.name == "Grant" else None

    history = wl.histories.linearizable(
        wl.histories.register(), invoke=invoked, respond=responded
    )
    linearizable = wl.safety(history.holds)
    system = locks(observers=[history], properties=[linearizable], careless=False)
    space = Space(system, 20_000)
    for engine in ENGINES:
        report = wl.check(system, traces=False, engine=engine)
        assert report.states == len(space.orbits()) < len(space.rows)
        assert report.verdict is Verdict.HOLDS


def test_it_begins_where_the_nodes_are_not_alike() -> None:
    """A prologue may treat them differently: one client already has the lock."""
    system = locks(2)
    first = system.ids[1]
    prologue = [wl.events.call(first, Client.want), wl.events.settle()]
    system = locks(2, prologue=prologue)
    orbits = len(Space(system, 20_000).orbits())
    for engine in ENGINES:
        report = wl.check(system, engine=engine, keep_going=True)
        assert report.states == orbits
        failed = report.expect_violated("one_holder")
        assert failed.trace is not None
        assert wl.replay(failed.trace, system=locks(2, prologue=prologue)).reproduced


@wl.node
class Voter:
    """Keeps who voted, in a form that `form` makes of ids."""

    form: str
    votes: list[Any] = wl.field(default_factory=list)
    chosen: Any = None

    @wl.call(when=lambda self: self.chosen is None)
    def vote(self, ctx: wl.Context) -> None:
        self.chosen = True
        for node in ctx.nodes:
            ctx.send(node, Ask())

    @wl.on(Ask)
    def ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        kept: dict[str, Callable[[], Any]] = {
            "int": lambda: ctx.nodes.index(src),
            "str": lambda: src.name,
            "least": lambda: min([src, *self.votes]),
            "first": lambda: next(iter({src, ctx.me} | set(self.votes))),
            "next": lambda: ctx.nodes[(ctx.nodes.index(src) + 1) % len(ctx.nodes)],
            "none": lambda: src,
        }
        self.votes = [kept[self.form]()]


def voters(form: str, *properties: wl.Property, size: int = 3) -> wl.System:
    ids = wl.ids(*"abcd"[:size])
    return wl.System(
        {node: Voter(form) for node in ids},
        workload=[wl.whenever(Voter.vote)],
        properties=properties,
        symmetry=[wl.symmetric(ids)],
        name="voters",
    )


@pytest.mark.parametrize("form", ["int", "str", "next", "first"])
def test_ids_kept_in_another_form_are_an_error(form: str) -> None:
    found = []
    for engine in ENGINES:
        with pytest.raises(wl.Asymmetry) as caught:
            wl.check(voters(form), traces=False, engine=engine)
        found.append(str(caught.value))
    text = found[0]
    assert set(found) == {text}
    assert "deliver at" in text
    assert "(Voter)" in text
    assert "Voter(form=" in text
    assert "store ids as wl.NodeId" in text
    assert wl.check(voters(form), traces=False, symmetry=False).states > 1


def test_comparing_ids_by_order_is_an_error_that_names_the_line() -> None:
    with pytest.raises(
        wl.Asymmetry, match=r"\(test_symmetry.py:\d+ in \S+\); to send"
    ) as caught:
        wl.check(voters("least"), traces=False)
    assert "for node in self.peers; compare ids with == only" in caught.value.remedy
    assert wl.check(voters("least"), traces=False, symmetry=False).states > 1
    a, b = wl.ids("a", "b")
    assert a < b


@wl.node
class Hub:
    """Answers everybody who has asked so far."""

    askers: set[wl.NodeId] = wl.field(default_factory=set)
    is_sorted: bool = False

    @wl.on(Ask)
    def ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        self.askers.add(src)
        for node in sorted(self.askers) if self.is_sorted else self.askers:
            ctx.send(node, Ask())


@wl.node
class Asker:
    """Asks the hub once, and counts the answers."""

    answers: int = 0

    @wl.call
    def begin(self, ctx: wl.Context, hub: wl.NodeId) -> None:
        ctx.send(hub, Ask())

    @wl.on(Ask)
    def answered(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        self.answers += 1


def test_a_message_to_each_of_a_set_of_alike_nodes_needs_no_order() -> None:
    def asked(*, is_sorted: bool) -> wl.System:
        hub, *askers = wl.ids("hub", "a", "b")
        return wl.System(
            {hub: Hub(is_sorted=is_sorted), **{node: Asker() for node in askers}},
            workload=[
                wl.script(node, [wl.invoke(Asker.begin, hub)]) for node in askers
            ],
            symmetry=[wl.symmetric(askers)],
        )

    system = asked(is_sorted=False)
    assert wl.check(system, traces=False).states == len(Space(system, 5_000).orbits())
    with pytest.raises(wl.Asymmetry, match="without sorted"):
        wl.check(asked(is_sorted=True), traces=False)


def test_ids_kept_as_ids_are_right() -> None:
    system = voters("none", size=2)
    assert wl.check(system, traces=False).states == len(Space(system, 5_000).orbits())


def test_a_property_that_prefers_a_node_is_an_error() -> None:
    def the_first_is_silent(view: wl.View) -> bool:
        return view[view.nodes[0]].chosen is None

    with pytest.raises(wl.Asymmetry, match=r"the_first_is_silent is (True|False) in a"):
        wl.check(voters("none", wl.safety(the_first_is_silent)), traces=False)


def test_a_prune_that_prefers_a_node_is_an_error() -> None:
    def is_pruned(view: wl.View) -> bool:
        return view[view.nodes[-1]].chosen is not None

    with pytest.raises(wl.Asymmetry, match="prune or assume"):
        wl.check(voters("none"), traces=False, prune=is_pruned)


def test_the_result_is_the_same_in_every_run() -> None:
    first, second = (wl.check(locks(), engine="python") for _ in range(2))
    same = [known.explanation for known in first.properties]
    assert same == [known.explanation for known in second.properties]
    assert counts(first) == counts(second)
