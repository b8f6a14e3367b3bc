"""The tables, views and macros that a query can ask: their columns and what they mean."""

from __future__ import annotations

from typing import NamedTuple


class Attribute(NamedTuple):
    """A column: its name, its type in SQL, what it holds, with its unit."""

    name: str
    type: str
    meaning: str


class Relation(NamedTuple):
    """A table or view.

    Attributes
    ----------
    name
        With the parameter, if it is a macro: ``state_at(step)``.
    meaning
        What a row is.
    """

    name: str
    meaning: str
    columns: tuple[Attribute, ...]


def _columns(*rows: tuple[str, str, str]) -> tuple[Attribute, ...]:
    return tuple(Attribute(*row) for row in rows)


_STEP = ("step", "BIGINT", "1, 2, ... in the run; 0 and below before it")
_TIME = ("time", "DOUBLE", "seconds since the run began; NULL if it had no clock")
_NODE = ("node", "VARCHAR", "the node's name")
_PART = ("part", "VARCHAR", "the part of the node; empty for the node itself")


def _value(name: str, meaning: str) -> tuple[tuple[str, str, str], ...]:
    return (
        (name, "VARCHAR", meaning),
        (f"{name}_json", "JSON", "the same as the file spells it"),
    )


STEPS = Relation(
    "steps",
    "one for each event",
    _columns(
        _STEP,
        ("phase", "VARCHAR", "boot, prologue or run"),
        _TIME,
        ("lamport", "BIGINT", "Lamport time"),
        ("node", "VARCHAR", "where it happened; NULL for the network as a whole"),
        ("kind", "VARCHAR", "deliver, timer, call, crash, ..."),
        _PART,
        ("name", "VARCHAR", "of the message's class, the timer or the call"),
        ("peer", "VARCHAR", "the sender, or the other end of a connection"),
        *_value("payload", "the message, or what the timer or call was given"),
        ("sent_in", "BIGINT", "the step that sent the message"),
        ("choices", "BIGINT[]", "options that the handler took"),
        ("widths", "BIGINT[]", "out of how many"),
        ("result", "VARCHAR", "handled, unhandled or failed"),
        ("failure", "VARCHAR", "what a handler failed with"),
        ("log", "VARCHAR[]", "what the handler logged"),
        ("in_cycle", "BOOLEAN", "whether it is repeated for ever"),
    ),
)

SENDS = Relation(
    "sends",
    "one for each attempt to send",
    _columns(
        _STEP,
        ("number", "BIGINT", "1, 2, ... among those of the step"),
        _TIME,
        ("src", "VARCHAR", "the sender"),
        ("dst", "VARCHAR", "the receiver"),
        ("part", "VARCHAR", "the receiver's part; empty for the node itself"),
        ("name", "VARCHAR", "the message's class"),
        *_value("message", "the message"),
        ("taken", "BOOLEAN", "false if the send buffer was full"),
    ),
)

MESSAGES = Relation(
    "messages",
    "one for each message that was under way, and each copy of it",
    _columns(
        ("sent_in", "BIGINT", "a step; NULL: it was under way when the run began"),
        ("number", "BIGINT", "as in sends; NULL for a copy, or one from before"),
        ("sent_at", "DOUBLE", "time, in seconds"),
        ("src", "VARCHAR", "the sender"),
        ("dst", "VARCHAR", "the receiver"),
        _PART,
        ("name", "VARCHAR", "the message's class"),
        *_value("message", "the message"),
        ("fate", "VARCHAR", "deliver, refuse, drop; left: none of these happened"),
        ("ended_in", "BIGINT", "the step of its fate"),
        ("ended_at", "DOUBLE", "time, in seconds"),
    ),
)

CHANGES = Relation(
    "changes",
    "one for each field that a step changed",
    _columns(
        _STEP,
        _TIME,
        _NODE,
        ("field", "VARCHAR", "with parts dotted; (status) for new, up or down"),
        *_value("before", "the value before"),
        *_value("after", "the value after"),
    ),
)

TIMERS = Relation(
    "timers",
    "one for each time that a timer was set",
    _columns(
        ("set_in", "BIGINT", "a step; NULL: it was pending when the run began"),
        ("number", "BIGINT", "1, 2, ... among those of the step"),
        ("set_at", "DOUBLE", "time, in seconds"),
        _NODE,
        _PART,
        ("name", "VARCHAR", "the timer's name"),
        *_value("payload", "what it was given"),
        ("after", "DOUBLE", "its delay in seconds; NULL where delays decide nothing"),
        ("fate", "VARCHAR", "timer: it fired; cancel, set (again), crash, reset, left"),
        ("ended_in", "BIGINT", "the step of its fate"),
        ("ended_at", "DOUBLE", "time, in seconds"),
    ),
)

CALLS = Relation(
    "calls",
    "one for each call between two services of a node",
    _columns(
        _STEP,
        ("number", "BIGINT", "1, 2, ... among those of the step, as they began"),
        ("depth", "BIGINT", "1: the step's handler made it; 2: inside such a one; ..."),
        _TIME,
        _NODE,
        ("caller", "VARCHAR", "the part that called; empty for the node itself"),
        ("callee", "VARCHAR", "the part that was called"),
        ("name", "VARCHAR", "the method, or what was called up"),
        ("handler", "VARCHAR", "the method that took it; empty if none did"),
        *_value("arguments", "what it was given, as a list"),
        ("returned", "BOOLEAN", "false if it raised, or nobody saw its end"),
        *_value("result", "what it returned"),
    ),
)

NODES = Relation(
    "nodes",
    "one for each node",
    _columns(
        ("number", "BIGINT", "1, 2, ... in order of declaration"),
        _NODE,
        ("kind", "VARCHAR", "its class"),
        *_value("fields", "its fields as declared"),
        ("absent", "BOOLEAN", "whether nothing is known of where it began"),
    ),
)

RUN = Relation(
    "run",
    "one row: what was run, and what it showed",
    _columns(
        ("system", "VARCHAR", "the system's name"),
        ("target", "VARCHAR", "what loads it"),
        ("parameters", "JSON", "of the system's function"),
        ("seed", "BIGINT", "of the search"),
        ("engine", "VARCHAR", "how the run was found"),
        ("worldline", "VARCHAR", "the version that wrote the file"),
        ("network", "JSON", "as declared"),
        ("faults", "JSON", "the budget of each"),
        ("options", "JSON", "the system's other switches"),
        ("begins", "VARCHAR", "start or state"),
        ("verdict", "VARCHAR", "violated or unknown; NULL if the file breaks off"),
        ("property", "VARCHAR", "what is violated"),
        ("kind", "VARCHAR", "safety, liveness, or the kind of failure"),
        ("explanation", "VARCHAR", "why"),
        ("steps", "BIGINT", "events of the run"),
        ("cycle", "BIGINT", "the step with which what is repeated for ever begins"),
        ("critical", "BIGINT", "of a liveness violation: the critical transition"),
    ),
)

TABLES = (STEPS, SENDS, MESSAGES, CHANGES, TIMERS, CALLS, NODES, RUN)

_VALUE = _value("value", "the value")

VIEWS = (
    Relation(
        "history",
        "one for each value that a field had",
        _columns(
            _NODE,
            ("field", "VARCHAR", "as in changes"),
            ("step", "BIGINT", "from which on; NULL: from the beginning"),
            ("time", "DOUBLE", "of that step, in seconds"),
            ("until", "BIGINT", "the step of the next value; NULL: none came"),
            *_VALUE,
        ),
    ),
    Relation(
        "state_at(step)",
        "one for each field, after a step",
        _columns(
            _NODE,
            ("field", "VARCHAR", "as in changes"),
            ("since", "BIGINT", "the step that wrote it; NULL: none did"),
            *_VALUE,
        ),
    ),
    Relation(
        "last_writer",
        "one for each field that changed: the step that changed it last",
        _columns(
            _NODE,
            ("field", "VARCHAR", "as in changes"),
            *_VALUE,
            _STEP,
            _TIME,
            ("kind", "VARCHAR", "of the step, as in steps"),
            ("name", "VARCHAR", "of the step, as in steps"),
            ("peer", "VARCHAR", "who sent the message"),
            ("payload", "VARCHAR", "the message"),
            ("sent_in", "BIGINT", "the step that sent it"),
        ),
    ),
    Relation(
        "last_writer_at(step)",
        "the same after a step, the columns of last_writer",
        (),
    ),
    Relation(
        "unreceived",
        "one for each class of messages and pair: those that never arrived",
        _columns(
            ("name", "VARCHAR", "the message's class"),
            ("src", "VARCHAR", "the sender"),
            ("dst", "VARCHAR", "the receiver"),
            ("messages", "BIGINT", "how many"),
            ("dropped", "BIGINT", "lost by a fault"),
            ("refused", "BIGINT", "arrived at a node that did not take them"),
            ("remaining", "BIGINT", "under way in the end, or lost with a connection"),
            ("first_sent_in", "BIGINT", "the step that sent the first of them"),
        ),
    ),
    Relation(
        "traffic",
        "one for each class of messages and pair",
        _columns(
            ("name", "VARCHAR", "the message's class"),
            ("src", "VARCHAR", "the sender"),
            ("dst", "VARCHAR", "the receiver"),
            ("messages", "BIGINT", "how many, with copies"),
            ("received", "BIGINT", "how many of them arrived"),
            ("steps_p50", "DOUBLE", "steps from sending to delivery: the median"),
            ("steps_p99", "DOUBLE", "the same: 99 of 100 take no more"),
            ("seconds_p50", "DOUBLE", "seconds from sending to delivery"),
            ("seconds_p99", "DOUBLE", "the same: 99 of 100 take no more"),
        ),
    ),
    Relation(
        "traffic_by(width)",
        "one for each class of messages and so many seconds (steps, without a clock)",
        _columns(
            ("since", "DOUBLE", "where the interval of sending begins"),
            ("name", "VARCHAR", "the message's class"),
            ("messages", "BIGINT", "how many were sent, with copies"),
            ("received", "BIGINT", "how many of them arrived at last"),
        ),
    ),
)

EXAMPLES = (
    "SELECT kind, count(*) FROM steps GROUP BY kind ORDER BY 2 DESC",
    "SELECT step, node, value FROM history WHERE field = '(status)' ORDER BY step",
    "SELECT node, field, value FROM state_at(3)",
    "SELECT * FROM unreceived ORDER BY messages DESC",
    "SELECT node, field, peer, payload FROM last_writer ORDER BY step DESC LIMIT 5",
)
