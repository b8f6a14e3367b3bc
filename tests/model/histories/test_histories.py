from __future__ import annotations

import copy
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldline.model.data.content import canonical_bytes, order_key
from worldline.model.data.identity import ids
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.histories.deeds import ClientRecord
from worldline.model.histories.histories import (
    History,
    Linearizer,
    Read,
    SequentialSpec,
    Write,
    linearizable,
    register,
)
from worldline.model.kinds import Kind
from worldline.model.observers import Observer, Step
from worldline.trace.json_values import encode_value

A, B, C = CLIENTS = ids("a", "b", "c")

# ---------------------------------------------------------------- objects to imitate


@dataclass(frozen=True)
class Put:
    item: int


@dataclass(frozen=True)
class Take:
    pass


@dataclass(frozen=True)
class Queue:
    """First in, first out; taking from an empty queue gives None."""

    initial: tuple[int, ...] = ()

    def apply(
        self, state: tuple[int, ...], operation: Put | Take, /
    ) -> tuple[tuple[int, ...], int | None]:
        if isinstance(operation, Put):
            return (*state, operation.item), None
        return (state[1:], state[0]) if state else (state, None)


@dataclass(frozen=True)
class Add:
    amount: int


@dataclass(frozen=True)
class Counter:
    """Adds, and gives the number from before."""

    initial: int = 0

    def apply(self, state: int, operation: Add, /) -> tuple[int, int]:
        return state + operation.amount, state


KINDS: dict[str, tuple[SequentialSpec, list[Any], list[Any]]] = {
    "register": (register(0), [Read(), Write(1), Write(2)], [None, 0, 1, 2]),
    "queue": (Queue(), [Take(), Put(1), Put(2)], [None, 1, 2]),
    "counter": (Counter(), [Add(0), Add(1), Add(2)], [0, 1, 2, 3]),
}

# ------------------------------------------------------------------------- histories


@dataclass(frozen=True)
class Moment:
    client: Any


@dataclass(frozen=True)
class Begin(Moment):
    operation: Any


@dataclass(frozen=True)
class End(Moment):
    result: Any


Run: TypeAlias = Sequence[Moment]


def moved(linearizer: Linearizer, history: History, moment: Moment) -> History:
    if isinstance(moment, Begin):
        return linearizer.fold(history, ((), ((moment.client, moment.operation),)))
    assert isinstance(moment, End)
    return linearizer.fold(history, (((moment.client, moment.result),), ()))


def folded(run: Run, linearizer: Linearizer | None = None) -> History:
    history: History = ()
    linearizer = linearizer or Linearizer(register())
    for moment in run:
        history = moved(linearizer, history, moment)
    return history


def decided(spec: SequentialSpec, *run: Moment) -> bool:
    linearizer = Linearizer(spec)
    return linearizer.decide(folded(run, linearizer))


def is_linearizable_brute_force(spec: SequentialSpec, run: Run) -> bool:
    """Try all orders of the completed operations and of every set of pending ones."""
    operations: list[list[Any]] = []  # begin, end, operation, result
    for time, moment in enumerate(run):
        if isinstance(moment, Begin):
            operations.append([time, None, moment.client, moment.operation, None])
        elif isinstance(moment, End):
            mine = [o for o in operations if o[2] == moment.client and o[1] is None]
            mine[0][1], mine[0][4] = time, moment.result
    completed = [o for o in operations if o[1] is not None]
    pending = [o for o in operations if o[1] is None]
    return any(
        _fits(spec, order)
        for size in range(len(pending) + 1)
        for chosen in itertools.combinations(pending, size)
        for order in itertools.permutations([*completed, *chosen])
    )


def _fits(spec: SequentialSpec, order: tuple[list[Any], ...]) -> bool:
    for earlier, later in itertools.combinations(order, 2):
        if later[1] is not None and later[1] < earlier[0]:
            return False
    state = spec.initial
    for _, end, _, operation, result in order:
        state, outcome = spec.apply(state, operation)
        if end is not None and outcome != result:
            return False
    return True


@st.composite
def runs(draw, *, honest: bool = False, operations: int = 6) -> tuple[Any, Run]:
    """Runs against an atomic object, some of whose answers may be replaced."""
    spec, choices, results = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    clients = CLIENTS[: draw(st.integers(2, 3))]
    state = spec.initial
    flying: dict[Any, Any] = {}  # the operation
    given: dict[Any, Any] = {}  # the outcome, once it took effect
    run: list[Moment] = []
    for who in draw(
        st.lists(
            st.sampled_from(clients), min_size=2 * operations, max_size=4 * operations
        )
    ):
        begun = sum(isinstance(moment, Begin) for moment in run)
        if who not in flying:
            if begun < operations:
                flying[who] = draw(st.sampled_from(choices))
                run.append(Begin(who, flying[who]))
        elif who not in given:
            state, given[who] = spec.apply(state, flying[who])
        else:
            del flying[who]
            outcome = given.pop(who)
            if not honest and draw(st.integers(0, 3)) == 0:
                outcome = draw(st.sampled_from(results))
            run.append(End(who, outcome))
    return spec, run


# ------------------------------------------------------------------------ the verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    "examples", [200, pytest.param(2_000, marks=pytest.mark.nightly)]
)
def test_the_verdict_agrees_with_brute_force(examples: int):
    verdicts: list[bool] = []

    @settings(max_examples=examples)
    @given(runs())
    def agree(drawn):
        spec, run = drawn
        verdicts.append(is_linearizable_brute_force(spec, run))
        assert decided(spec, *run) == verdicts[-1]

    agree()
    assert min(verdicts.count(True), verdicts.count(False)) > examples / 10


@pytest.mark.slow
@given(runs(honest=True, operations=20))
def test_what_an_atomic_object_answers_is_linearizable(drawn):
    spec, run = drawn
    linearizer = Linearizer(spec)
    history: History = ()
    for moment in run:
        history = moved(linearizer, history, moment)
        assert linearizer.decide(history)


@pytest.mark.slow
@given(runs(operations=12))
def test_configurations_from_scratch_equal_the_incremental_ones(drawn):
    spec, run = drawn
    incremental = Linearizer(spec)
    history: History = ()
    for moment in run:
        history = moved(incremental, history, moment)
        expected = incremental.configurations(history)
        assert Linearizer(spec).configurations(history) == expected


@pytest.mark.slow
@given(runs(operations=12), st.integers(1, 3))
def test_forgotten_histories_change_nothing(drawn, generation):
    spec, run = drawn
    forgetful = Linearizer(spec, generation=generation)
    reference = Linearizer(spec)
    history: History = ()
    prefixes = [history := moved(forgetful, history, moment) for moment in run]
    for prefix in [*prefixes, *reversed(prefixes)]:
        found = forgetful.configurations(prefix)
        assert found == reference.configurations(prefix)


def test_at_most_two_generations_are_remembered():
    linearizer = Linearizer(register(0), generation=4)
    history: History = ()
    for value in range(20):
        history = moved(linearizer, history, Begin(A, Write(value)))
        history = moved(linearizer, history, End(A, None))
        assert len(linearizer._known) + len(linearizer._older) <= 8
        assert len(linearizer._responses) <= 4


def test_a_read_may_return_the_value_from_before_a_write_in_flight():
    before = [Begin(A, Write(1)), Begin(B, Read()), End(B, 0)]
    assert decided(register(0), *before)
    assert decided(register(0), *before, End(A, None), Begin(B, Read()), End(B, 1))


def test_a_read_may_return_the_value_of_a_write_in_flight():
    assert decided(register(0), Begin(A, Write(1)), Begin(B, Read()), End(B, 1))


def test_no_read_goes_back_once_a_write_in_flight_was_seen():
    seen = [Begin(A, Write(1)), Begin(B, Read()), End(B, 1)]
    assert not decided(register(0), *seen, Begin(C, Read()), End(C, 0))


def test_a_stale_read_is_sequentially_consistent_but_not_linearizable():
    written = [Begin(A, Write(1)), End(A, None)]
    assert not decided(register(0), *written, Begin(B, Read()), End(B, 0))


def test_a_value_from_the_future_is_not_linearizable():
    read = [Begin(A, Read()), End(A, 1)]
    assert not decided(register(0), *read, Begin(B, Write(1)))


def test_a_violation_stays_one():
    run = [Begin(A, Read()), End(A, 1), Begin(B, Write(1)), End(B, None)]
    assert not decided(register(0), *run, Begin(A, Read()), End(A, 1))


def test_an_operation_takes_effect_only_once():
    takes = [Begin(A, Put(1)), Begin(B, Take()), End(B, 1)]
    assert decided(Queue(), *takes)
    assert not decided(Queue(), *takes, Begin(B, Take()), End(B, 1))


def test_what_took_effect_early_comes_back_with_that_result():
    early = [Begin(A, Add(1)), Begin(B, Add(1)), End(B, 1)]
    assert decided(Counter(), *early, End(A, 0))
    assert not decided(Counter(), *early, End(A, 1))


def test_overlapping_puts_take_either_order_and_later_ones_theirs():
    together = [Begin(A, Put(1)), Begin(B, Put(2)), End(A, None), End(B, None)]
    apart = [Begin(A, Put(1)), End(A, None), Begin(B, Put(2)), End(B, None)]
    take = [Begin(C, Take()), End(C, 2)]
    assert decided(Queue(), *together, *take)
    assert not decided(Queue(), *apart, *take)


# ----------------------------------------------------------------------- the identity


def test_a_history_says_what_had_completed_before_each_operation():
    run = [
        Begin(B, Write(2)),
        Begin(A, Write(1)),
        End(B, None),
        Begin(B, Read()),
        End(A, None),
        End(B, 2),
        Begin(A, Read()),
        Begin(C, Read()),
        End(C, 1),
    ]
    assert folded(run) == (
        (A, (((), Write(1), None),), (((B, 1),), Read())),
        (B, (((), Write(2), None), ((), Read(), 2)), None),
        (C, ((((A, 0), (B, 1)), Read(), 1),), None),
    )


def test_the_empty_history_has_no_clients():
    observer = linearizable(register(), invoke=lambda _: None, respond=lambda _: None)
    assert observer.initial == ()
    assert observer.decide is not None
    assert observer.decide(()) is True


def test_clients_are_in_the_order_of_their_declaration():
    history = folded([Begin(C, Read()), Begin(A, Read()), Begin(B, Read())])
    assert [record[0] for record in history] == [A, B, C]


def test_the_order_of_overlapping_invocations_is_not_recorded():
    one = [Begin(A, Write(1)), Begin(B, Write(2))]
    assert folded(one) == folded(one[::-1])


def test_the_order_of_completions_is_not_recorded():
    begun = [Begin(A, Write(1)), Begin(B, Write(2))]
    ended = [End(A, None), End(B, None)]
    later = [Begin(C, Read())]
    assert folded([*begun, *ended, *later]) == folded([*begun, *ended[::-1], *later])


def test_an_invocation_before_a_completion_differs_from_one_after():
    begun, end, later = Begin(A, Write(1)), End(A, None), Begin(B, Read())
    assert folded([begun, end, later]) != folded([begun, later, end])


@pytest.mark.parametrize(
    "clients", [(3, 1, 2), ("y", "x"), (("n", 2), ("n", 1)), (1, "x")]
)
def test_any_plain_data_may_name_clients(clients):
    begins: Run = [Begin(client, Read()) for client in clients]
    assert len({folded(order) for order in itertools.permutations(begins)}) == 1


@given(runs())
def test_a_history_is_plain_data(drawn):
    spec, run = drawn
    history = folded(run, Linearizer(spec))
    again = thaw(freeze(history))
    assert again == history
    assert hash(again) == hash(history)


def test_results_of_different_types_make_different_histories():
    linearizer = Linearizer(register(0))
    begun = moved(linearizer, (), Begin(A, Read()))
    one, true = [moved(linearizer, begun, End(A, result)) for result in (1, True)]
    assert freeze(one) != freeze(true)
    assert [repr(history[0][1][0][2]) for history in (one, true)] == ["1", "True"]
    operations = [
        moved(linearizer, (), Begin(A, Write(value))) for value in (0, False, 0.0)
    ]
    assert len({canonical_bytes(freeze(history)) for history in operations}) == 3


@given(runs())
def test_a_history_has_the_bytes_order_and_json_of_the_plain_tuples(drawn):
    spec, run = drawn
    history = folded(run, Linearizer(spec))
    plain = freeze(tuple(tuple(deeds) for deeds in history))
    assert canonical_bytes(freeze(history)) == canonical_bytes(plain)
    assert order_key(freeze(history)) == order_key(plain)
    assert encode_value(history) == encode_value(thaw(plain))


def test_a_copy_of_a_history_is_the_same_history():
    history = folded([Begin(A, Write(1)), Begin(B, Read()), End(B, 1)])
    for again in (copy.deepcopy(history), copy.copy(history)):
        assert freeze(again) == freeze(history)
        assert hash(again) == hash(history)


def test_a_step_makes_one_record_and_leaves_the_others_alone():
    linearizer = Linearizer(register(0))
    history = folded([Begin(A, Write(1)), Begin(B, Write(2))], linearizer)
    after = moved(linearizer, history, End(B, None))
    assert after[0] is history[0]
    # The same step in another run gives the same record.
    assert moved(linearizer, history, End(B, None))[1] is after[1]


SCRIPT = """
from worldline.model.histories.histories import Linearizer, Read, Write, register
linearizer, history = Linearizer(register("?")), ()
for client in ("carol", "alice", "bob"):
    history = linearizer.fold(history, ((), ((client, Write(client)),)))
for client in ("bob", "carol"):
    both = ((client, None),), ((client, Read()),)
    history = linearizer.fold(history, both)
    print(history, linearizer.decide(history))
for result in ("alice", "?"):
    print(linearizer.decide(linearizer.fold(history, ((("carol", result),), ()))))
"""


@pytest.mark.slow
def test_nothing_depends_on_the_hash_seed():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().splitlines()[2:] == ["True", "False"]


# --------------------------------------------------------------- from steps of a run


def step(*moments: Moment) -> Step:
    return Step(Event(Kind.CALL, A, payload=moments), True, (), ())


def observed(**functions: Any) -> Observer:
    def begun(step: Step) -> Iterator[tuple[Any, Any]]:
        for moment in step.event.payload:
            if isinstance(moment, Begin):
                yield moment.client, moment.operation

    def ended(step: Step) -> list[tuple[Any, Any]] | None:
        moments = [m for m in step.event.payload if isinstance(m, End)]
        return [(moment.client, moment.result) for moment in moments] or None

    return linearizable(register(0), **{"invoke": begun, "respond": ended} | functions)


def test_a_step_that_concerns_no_operation_projects_to_none():
    assert observed().project(step()) is None


def test_responses_of_a_step_precede_its_invocations():
    observer = observed()
    history = observer.fold((), observer.project(step(Begin(A, Write(1)))))
    both = observer.project(step(Begin(A, Read()), Begin(B, Read()), End(A, None)))
    assert observer.fold(history, both) == (
        (A, (((), Write(1), None),), ((), Read())),
        (B, (), (((A, 0),), Read())),
    )


def test_a_projection_is_in_order_of_clients():
    moments = (Begin(C, Read()), Begin(A, Read()), Begin(B, Write(1)))
    expected = ((), ((A, Read()), (B, Write(1)), (C, Read())))
    for order in itertools.permutations(moments):
        assert observed().project(step(*order)) == expected


def test_several_responses_in_a_step_count_as_overlapping():
    observer = observed()
    together = step(Begin(A, Write(1)), Begin(B, Write(2)))
    history = observer.fold((), observer.project(together))
    history = observer.fold(history, observer.project(step(End(B, None), End(A, None))))
    assert observer.decide is not None
    for result in (1, 2):
        read = observer.fold(history, observer.project(step(Begin(C, Read()))))
        read = observer.fold(read, observer.project(step(End(C, result))))
        assert observer.decide(read)


def test_the_observer_bears_the_given_name():
    assert observed().name == "history"
    assert observed(name="writes").name == "writes"


# ----------------------------------------------------------------------- ill-formed


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ([End(A, 7)], ["client a", "7", "no operation in flight"]),
        (
            [Begin(A, Read()), End(A, 0), End(A, 7)],
            ["client a", "7", "no operation in flight; Read() came back with 0"],
        ),
        (
            [Begin(B, Read()), Begin(B, Write(5))],
            ["client b", "Write(value=5)", "Read()", "in flight"],
        ),
    ],
)
def test_an_ill_formed_history_is_an_error_of_the_model(run, words):
    with pytest.raises(ModelError) as caught:
        folded(run)
    assert all(word in caught.value.what for word in words)
    what = "a retry is" if isinstance(run[-1], Begin) else "not step.handled"
    assert what in caught.value.remedy


def test_more_operations_in_flight_than_can_be_tried_are_an_error():
    names = ids(*[f"c{number}" for number in range(20)])
    writes = [Begin(name, Write(number)) for number, name in enumerate(names)]
    with pytest.raises(ModelError, match="21 operations are in flight") as caught:
        folded([*writes, Begin(A, Read()), End(A, 3)])
    assert "send it again, as one operation" in caught.value.remedy


def test_an_operation_that_ends_in_the_step_that_begins_it_is_an_error():
    observer = observed()
    projected = observer.project(step(Begin(A, Read()), End(A, 0)))
    with pytest.raises(ModelError, match="in one step responses precede invocations"):
        observer.fold((), projected)


@pytest.mark.parametrize("found", [(A, Read()), A, [A], [(A,)], "ab", [(A, [1])]])
@pytest.mark.parametrize("function", ["invoke", "respond"])
def test_anything_but_pairs_of_hashable_data_is_an_error(function, found):
    observer = observed(**{function: lambda _: found})
    with pytest.raises(ModelError, match=f"^{function} gave ") as caught:
        observer.project(step())
    assert "(client, " in caught.value.remedy


def test_an_error_inside_the_callers_function_is_left_alone():
    def broken(_: Step) -> Iterator[tuple[Any, Any]]:
        yield A, len(cast("Any", None))

    with pytest.raises(TypeError, match="has no len") as caught:
        observed(invoke=broken).project(step())
    assert not isinstance(caught.value, ModelError)


# ------------------------------------------------------------- counts from literature


def registers(servers: int, clients: int) -> tuple[int, int, int, int, int]:
    """Explore clients that write and then read, each time at another server.

    Returns
    -------
    Distinct states, states generated, depth (that of the first state is 1), distinct
    histories, and how many of them are not linearizable.
    """
    linearizer = Linearizer(register("?"))
    history: History = ()
    for client in range(clients):
        history = moved(linearizer, history, Begin(client, Write(chr(65 + client))))
    first = (("?",) * servers, ((0, None),) * clients, history)
    seen, level, generated, depth = {first}, [first], 1, 0
    while level:
        depth += 1
        found = [next_ for state in level for next_ in _steps(linearizer, *state)]
        generated += len(found)
        level = [s for s in dict.fromkeys(found) if s not in seen]
        seen.update(level)
    histories = {state[2] for state in seen}
    bad = sum(not linearizer.decide(history) for history in histories)
    return len(seen), generated, depth, len(histories), bad


def _steps(linearizer: Linearizer, values: Any, clients: Any, history: History) -> Any:
    """Deliver, for each client, its write, the answer, its read or the value read."""
    for client, (phase, value) in enumerate(clients):
        server = (client + len(values) + phase // 2) % len(values)
        now, after, then = values, history, None
        if phase == 0:
            now = (*values[:server], chr(65 + client), *values[server + 1 :])
        elif phase == 1:
            both = (((client, None),), ((client, Read()),))
            after = linearizer.fold(history, both)
        elif phase == 2:
            then = values[server]
        elif phase == 3:
            after = moved(linearizer, history, End(client, value))
        else:
            continue
        others = (*clients[:client], (phase + 1, then), *clients[client + 1 :])
        yield now, others, after


@pytest.mark.parametrize(
    ("clients", "states", "generated", "depth"),
    [
        (1, 5, 5, 5),
        (2, 93, 121, 9),
        pytest.param(3, 4_243, 6_778, 13, marks=pytest.mark.slow),
        pytest.param(4, 400_233, 731_789, 17, marks=pytest.mark.nightly),
    ],
)
def test_a_single_copy_register_has_the_published_states(
    clients, states, generated, depth
):
    """The counts are those of Stateright 0.31, histories included."""
    found = registers(1, clients)
    assert found[:3] == (states, generated, depth)
    assert found[4] == 0
    if clients == 4:
        assert found[3] == 89_145


def test_two_copies_of_a_register_are_not_linearizable():
    assert registers(2, 2)[4] > 0


def test_records_that_have_grown_are_those_that_were_made_whole():
    """What was in a record before is not frozen again, so that long runs stay fast."""
    linearizer = Linearizer(register(0))
    history: History = ()
    for number in range(6):
        history = linearizer.fold(history, ((), ((A, Write(number)), (B, Read()))))
        grown = [record.key for record in history]
        assert grown == [freeze(tuple(record)) for record in history]
        history = linearizer.fold(history, (((A, None), (B, number)), ()))
        for record in history:
            whole = ClientRecord.of(*record)
            assert (record.key, hash(record)) == (whole.key, hash(whole))
            assert record == whole
