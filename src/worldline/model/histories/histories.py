"""Histories of operations, and whether they are linearizable.

A history is the value of an `Observer`: who invoked what, what came back, and what had
come back already when an operation was invoked. That alone is part of a state's
identity; the sequential executions that explain it are derived, and remembered.
Knows nothing of messages: the caller's ``invoke`` and ``respond`` read them from a
step. Start with `linearizable`; `Linearizer` is the algorithm.

References
----------
J. M. Wing and C. Gong, "Testing and verifying concurrent objects", JPDC 17, 1993: the
search for a sequential order. G. Lowe, "Testing for linearizability", CCPE 29(4), 2017:
configurations, and just-in-time linearization: an operation takes effect right before a
response that needs it. We keep configurations by history, not one search per run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

from worldline.model.data.canonical import in_order
from worldline.model.data.memory import Memory
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.histories.deeds import (
    Client,
    Pairs,
    arranged,
    moments,
    position,
)
from worldline.model.histories.deeds import ClientRecord as ClientRecord
from worldline.model.histories.deeds import History as History
from worldline.model.histories.timelines import explained
from worldline.model.observers import Observer, Step

Configuration: TypeAlias = tuple[Any, frozenset[tuple[Client, Any]]]
Configurations: TypeAlias = frozenset[Configuration]
"""A state of the object, with the results of operations in flight that led to it."""

_NOT_AWAITED = (
    "report an operation once, with the client that waits for it; a duplicate, a late "
    "reply that the client ignores (not step.handled, if a guard refuses it), and one that "
    "is dropped (step.event.kind is not wl.Kind.DELIVER) are no responses, and in one step "
    "responses precede invocations"
)
_WENT_ON = (
    "a retry is the same operation: report it once. A client that gives up and goes on "
    "leaves an operation that may yet take effect: report what it does next as another "
    "client's, such as (client, 2). In one step responses precede invocations"
)

_TOO_MANY = (
    "an operation that is given up stays in flight for ever: let clients send it again, as "
    "one operation, until it is answered, or let fewer be given up"
)
_MOST_OUTCOMES = 20_000
"""Outcomes of operations in flight that are tried for one response."""


class SequentialSpec(Protocol):
    """An object whose operations come one at a time.

    States, operations and results are hashable plain data; equal ones behave alike.
    """

    @property
    def initial(self) -> Any:
        """The state before the first operation."""

    def apply(self, state: Any, operation: Any, /) -> tuple[Any, Any]:
        """Return the next state and the result: a pure function, total on both."""


@final
@dataclass(frozen=True, slots=True)
class Write:
    """Replace a register's value; the result is None."""

    value: Any


@final
@dataclass(frozen=True, slots=True)
class Read:
    """Ask for a register's value, which is the result."""


@final
@dataclass(frozen=True, slots=True)
class Register:
    """One value, read and written as a whole."""

    initial: Any = None

    def apply(self, state: Any, operation: Write | Read, /) -> tuple[Any, Any]:
        return (operation.value, None) if type(operation) is Write else (state, state)


def register(initial: Any = None) -> Register:
    """Return the specification of a register that holds `initial` at first."""
    return Register(initial)


def linearizable(
    spec: SequentialSpec,
    *,
    invoke: Callable[[Step], Iterable[tuple[Client, Any]] | None],
    respond: Callable[[Step], Iterable[tuple[Client, Any]] | None],
    name: str = "history",
) -> Observer:
    """Return an observer that records a history and decides whether it is linearizable.

    Parameters
    ----------
    spec
        The object that the history has to look like.
    invoke
        The ``(client, operation)`` pairs that begin in a step, or None. A client is
        hashable plain data and has at most one operation in flight.
    respond
        The ``(client, result)`` pairs that end in a step, or None. They precede what
        the same step invokes.
    name
        By which properties read the history.

    Returns
    -------
    Observer
        Its values are a `History`. It decides True if and only if some order of the
        completed operations, and of any of those in flight, agrees with `spec` and with
        real time: what came back precedes what was invoked later. Of a history that
        is not linearizable it draws the clients' time lines, and marks the first
        response that no order explains.

    Raises
    ------
    ModelError
        While observing: the functions give anything but pairs of hashable data, a
        response meets no operation in flight, or a client invokes while it waits.

    Notes
    -----
    *Late replies.* An operation whose reply the client ignores, because it has timed out
    or restarted, never returns: it stays in flight, and may take effect at any later time
    or never. So a client that retries reports the operation once, with its first request,
    and takes whichever reply comes first; replies that it drops are held against nobody.
    One that gives up and goes on is another client from then on: ``(node, attempt)``,
    with a number that it counts in a field and sends along. `respond` must tell replies
    apart as the client does, by a number of the request: the reply to an operation that
    was given up is no response to the next.

    *Cost.* NP-complete: ``k`` operations in flight make up to ``2**k`` configurations
    for each state of the object and outcome of those. A response tries each operation
    on each; an invocation costs nothing. Kept are those of the last 65,536 to 131,072 histories
    (1 to 3 KiB each with 8 operations); any other is replayed from its records.
    """
    linearizer = Linearizer(spec, name=name)

    def project(step: Step) -> tuple[Pairs, Pairs] | None:
        responses = _pairs(respond(step) or (), "respond", "(client, result)")
        invocations = _pairs(invoke(step) or (), "invoke", "(client, operation)")
        return (responses, invocations) if responses or invocations else None

    return Observer(
        name,
        (),
        project,
        linearizer.fold,
        linearizer.decide,
        arranged,
        linearizer.explain,
    )


def _pairs(answer: object, function: str, pair: str) -> Pairs:
    """Check what the caller's function gave, and put it in order of clients."""
    pairs = tuple(answer) if isinstance(answer, Iterable) else (answer,)
    if not pairs:
        return ()
    try:
        hash(pairs)
        well_formed = all(type(item) is tuple and len(item) == 2 for item in pairs)
    except TypeError:
        well_formed = False
    if not well_formed:
        raise ModelError(
            f"{function} gave {list(pairs)!r}, not pairs {pair} of hashable data",
            remedy=f"return a list of such pairs, as in [{pair}], or None",
        )
    clients = in_order({who for who, _ in pairs})
    return tuple(sorted(pairs, key=lambda item: clients.index(item[0])))


@final
class Linearizer:
    """Decides the histories of one object.

    A configuration is the outcome of a sequential execution that explains every
    response and is empty or ends with an operation that came back: one in flight is
    there only if a completed one follows it. So a history's configurations do not
    depend on the run, an invocation leaves them as they are, and there is one if and
    only if the history is linearizable. Up to twice `generation` histories are kept.
    """

    def __init__(
        self,
        spec: SequentialSpec,
        *,
        generation: int = 65_536,
        name: str = "history",
    ) -> None:
        self._spec = spec
        self._name = name
        self._generation = generation
        self._known: Memory[Configurations] = Memory(generation)
        self._older: Memory[Configurations] = Memory(generation)
        self._responses: Memory[Configurations] = Memory(generation)
        self._explained: Memory[Memory[tuple[Configuration, ...]]] = Memory(generation)
        self._deeds: Memory[ClientRecord] = Memory(generation)

    def fold(self, history: History, projected: tuple[Pairs, Pairs]) -> History:
        """Return `history` after one step's responses and then its invocations."""
        configurations = self.configurations(history)
        for client, result in projected[0]:
            waiting = tuple([(who, fly[1]) for who, _, fly in history if fly])
            history = self._responded(history, client, result)
            configurations = self._respond(configurations, waiting, client, result)
        for client, operation in projected[1]:
            history = self._invoked(history, client, operation)
        self._remember(history, configurations)
        return history

    def _responded(self, history: History, client: Client, result: Any) -> History:
        """Return `history` after the operation in flight of `client` came back."""
        at = position(history, client)
        before = history[at] if at >= 0 else ClientRecord.of(client, (), None)
        if before[2] is None:
            past = [
                f"{deed!r} came back with {got!r}" for _, deed, got in before[1][-1:]
            ]
            raise ModelError(
                f"observer {self._name!r}: client {client!r} got the response "
                f"{'; '.join([f'{result!r} with no operation in flight', *past])}",
                remedy=_NOT_AWAITED,
            )
        # Frozen, a result says its type: 1 and True are not the same history.
        key = (before, freeze(result))
        after = self._deeds.get(key)
        if after is None:
            after = self._deeds.put(key, before.answered(result))
        return (*history[:at], after, *history[at + 1 :])

    def _invoked(self, history: History, client: Client, operation: Any) -> History:
        """Return `history` after `client` has invoked `operation`."""
        at = position(history, client)
        if at < 0:
            at = in_order([client, *[one[0] for one in history]]).index(client)
            history = (*history[:at], ClientRecord.of(client, (), None), *history[at:])
        before = history[at]
        if before[2] is not None:
            raise ModelError(
                f"observer {self._name!r}: client {client!r} invoked {operation!r} "
                f"with its {before[2][1]!r} in flight",
                remedy=_WENT_ON,
            )
        others = (*history[:at], *history[at + 1 :])
        last = tuple([(who, len(done) - 1) for who, done, _ in others if done])
        key = (before, last, freeze(operation))
        after = self._deeds.get(key)
        if after is None:
            after = self._deeds.put(key, before.invoking((last, operation)))
        return (*history[:at], after, *history[at + 1 :])

    def decide(self, history: History) -> bool:
        """Tell whether `history` is linearizable."""
        return bool(self.configurations(history))

    def explain(self, history: History) -> tuple[str, ...]:
        """Return why `history` is not linearizable, as time lines of its clients."""
        configurations: Configurations = frozenset({(self._spec.initial, frozenset())})
        for number, response in enumerate(_responses(history)):
            configurations = self._respond(configurations, *response)
            if not configurations:
                return explained(history, number)
        return ()

    def configurations(self, history: History) -> Configurations:
        """Return the configurations of `history`, remembered or replayed."""
        configurations = self._known.get(history)
        if configurations is None:
            configurations = self._older.get(history)
        if configurations is None:
            configurations = frozenset({(self._spec.initial, frozenset())})
            for waiting, client, result in _responses(history):
                configurations = self._respond(configurations, waiting, client, result)
            self._remember(history, configurations)
        return configurations

    def _remember(self, history: History, configurations: Configurations) -> None:
        if len(self._known) >= self._generation:
            self._older, self._known = self._known, Memory(self._generation)
        self._known.put(history, configurations)

    def _respond(
        self, before: Configurations, waiting: Pairs, client: Client, result: Any
    ) -> Configurations:
        """Return what is left when `client`, one of those waiting, gets `result`."""
        key = (before, waiting, client, result)
        after = self._responses.get(key)
        if after is None:
            if len(self._responses) >= self._generation:
                self._explained = Memory(self._generation)
            # One configuration is part of many sets of them.
            each = self._explained.get(key[1:])
            if each is None:
                each = self._explained.put(key[1:], Memory(self._generation))
            responded: set[Configuration] = set()
            for one in before:
                reached = each.get(one)
                if reached is None:
                    reached = each.put(one, tuple(self._explain(one, *key[1:])))
                responded.update(reached)
            after = self._responses.put(key, frozenset(responded))
        return after

    def _explain(
        self, before: Configuration, waiting: Pairs, client: Client, result: Any
    ) -> Iterator[Configuration]:
        """Let any operations take effect, in any order, that of `client` last."""
        seen, todo = {before}, [before]
        while todo:
            state, effective = todo.pop()
            outcomes = dict(effective)
            if client in outcomes:
                if outcomes[client] == result:
                    yield state, effective - {(client, result)}
                continue
            for who, operation in waiting:
                if who in outcomes:
                    continue
                following, outcome = self._spec.apply(state, operation)
                if who != client:
                    reached = (following, effective | {(who, outcome)})
                    if reached not in seen:
                        seen.add(reached)
                        todo.append(reached)
                        if len(seen) > _MOST_OUTCOMES:
                            raise self._too_many(waiting)
                elif outcome == result:
                    yield following, effective

    def _too_many(self, waiting: Pairs) -> ModelError:
        return ModelError(
            f"observer {self._name!r}: {len(waiting)} operations are in flight, and could "
            f"have taken effect in more than {_MOST_OUTCOMES:,} ways",
            remedy=_TOO_MANY,
        )


def _responses(history: History) -> Iterator[tuple[Pairs, Client, Any]]:
    """Yield who waits, who gets a response and which, along one run with `history`."""
    waiting: dict[Client, Any] = {}
    for client, back, what in moments(history):
        if back:
            yield tuple(waiting.items()), client, what
            del waiting[client]
        else:
            waiting[client] = what
