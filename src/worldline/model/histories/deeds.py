"""Records of clients: operations that they invoked, and what came back.

A history is a record for each client. It says which operations had come back when
another was invoked and nothing more of time, so that runs which differ in nothing else
share it; `moments` gives one of these runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.data.canonical import in_order
from worldline.model.data.content import TUPLE, Frozen
from worldline.model.data.values import freeze, register_sealed

Client: TypeAlias = Any
Pairs: TypeAlias = tuple[tuple[Client, Any], ...]
LastCompleted: TypeAlias = tuple[tuple[Client, int], ...]
"""The index of each other client's last completed operation, in order of clients."""

Completed: TypeAlias = tuple[LastCompleted, Any, Any]
InFlight: TypeAlias = tuple[LastCompleted, Any]
Doings: TypeAlias = tuple[Client, tuple[Completed, ...], InFlight | None]


@final
class ClientRecord(  # noqa: SLOT001 - a tuple has no room for slots of its own
    tuple[Client, tuple[Completed, ...], InFlight | None]
):
    """The record of one client: who it is, what came back, and what it waits for.

    An operation is preceded by what had completed when it was invoked, and followed by
    its result. Few such records make up very many histories, so each is `Sealed` in all
    but name: its hash, its place in the order and its content are worked out once, and
    freezing or thawing a history leaves it alone.
    """

    key: Frozen
    _hash: int
    _order: tuple[Any, ...] | None
    _content: bytes | None

    @classmethod
    def of(
        cls, client: Client, completed: tuple[Completed, ...], flying: InFlight | None
    ) -> ClientRecord:
        """Return the record of a client."""
        record = (client, completed, flying)
        return cls._keyed(record, freeze(record))

    # The longer a run, the longer its records: what is in one before is not frozen again.

    def invoking(self, flying: InFlight) -> ClientRecord:
        """Return the record with an operation in flight, of one that has none."""
        client, completed, _ = self
        _, who, done, _ = self.key
        return self._keyed(
            (client, completed, flying), (TUPLE, who, done, freeze(flying))
        )

    def answered(self, result: Any) -> ClientRecord:
        """Return the record with the result of the operation in flight."""
        client, completed, flying = self
        assert flying is not None
        _, who, done, begun = self.key
        record = (client, (*completed, (*flying, result)), None)
        key = (TUPLE, who, (*done, (*begun, freeze(result))), None)
        return self._keyed(record, key)

    @classmethod
    def _keyed(cls, record: Doings, key: Frozen) -> ClientRecord:
        made = cls(record)
        made.key = key
        made._hash = tuple.__hash__(made)
        made._order = made._content = None
        return made

    def __eq__(self, other: object) -> bool:
        # Types count between records, as they do between frozen values.
        if type(other) is ClientRecord:
            return self is other or bool(self.key == other.key)
        return tuple.__eq__(self, other)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy works its key out again: tags are known by identity.
        return ClientRecord.of, tuple(self)


register_sealed(ClientRecord)

History: TypeAlias = tuple[ClientRecord, ...]
"""What each client that has invoked anything did, in order of clients."""


def arranged(history: History) -> History:
    """Return `history` in order of clients, after some of them were renamed."""

    def by_client(last: LastCompleted) -> LastCompleted:
        return tuple(in_order(last))

    arranged_records: dict[Client, ClientRecord] = {}
    for client, completed, flying in history:
        records = tuple([(by_client(done[0]), *done[1:]) for done in completed])
        now = None if flying is None else (by_client(flying[0]), flying[1])
        arranged_records[client] = ClientRecord.of(client, records, now)
    return tuple([arranged_records[client] for client in in_order(arranged_records)])


def position(history: History, client: Client) -> int:
    """Return where the record of a client is; -1 if it has none."""
    for at, record in enumerate(history):
        if record[0] is client:
            return at
    return next((at for at, one in enumerate(history) if one[0] == client), -1)


class Moment(NamedTuple):
    """An operation that is invoked, or one that comes back with its result."""

    client: Client
    back: bool
    what: Any


def moments(history: History) -> list[Moment]:
    """Return what happened along one run with `history`, in order.

    An invocation knows how many operations had completed, by client. Along a run no
    such number falls: so go by their sum, and let come back just what is needed.
    Responses with no invocation between them are in no certain order.
    """
    invocations = []
    for client, completed, flying in history:
        begun = [entry[:2] for entry in completed] + ([flying] if flying else [])
        for index, (last, operation) in enumerate(begun):
            counts = [(who, at + 1) for who, at in last] + [(client, index)]
            invocations.append((counts, Moment(client, False, operation)))
    invocations.sort(key=lambda begin: sum(count for _, count in begin[0]))
    end = [(who, len(completed)) for who, completed, _ in history]
    results = {who: [entry[2] for entry in done] for who, done, _ in history}
    arrived = dict.fromkeys(results, 0)
    sequence: list[Moment] = []

    def await_responses(counts: list[tuple[Client, int]]) -> None:
        for who, count in counts:
            for index in range(arrived[who], count):
                sequence.append(Moment(who, True, results[who][index]))
            arrived[who] = count

    for counts, invocation in invocations:
        await_responses(counts)
        sequence.append(invocation)
    await_responses(end)
    return sequence
