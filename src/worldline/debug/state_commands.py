"""Commands that look at states: one, two, or all along the run.

A command takes a session and what follows its name, and returns an `Answer`; its
docstring is what ``help`` says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from worldline.debug import text
from worldline.debug.answers import Answer, UndeclaredEnd
from worldline.debug.arguments import WHOLE, one_step, sorted_out, step_of, words_of
from worldline.debug.session import Session
from worldline.model.errors import UsageError
from worldline.runs.record import UNDECLARED
from worldline.trace.schema import dump


def state(session: Session, rest: str) -> Answer:
    """Show the state of nodes, here or after STEP.

    ``state``, ``state n1``, ``state n1 n2 @5``; with names of fields, those alone:
    ``state children siblings``. Names in parentheses are what a node owns beside its
    fields: ``state "(inbox)"``.
    """
    steps, nodes, fields = sorted_out(session, words_of(rest)[0])
    at = one_step(session, steps)
    states = session.state(at, nodes)
    names = {name for node in states for name in (*node.fields, *node.owns)}
    for name in fields:
        if name not in names:
            raise UsageError(
                f"{name!r} is no node, field or step",
                remedy=f"fields are {', '.join(sorted(names))}",
            )
    lines = list(text.states(session, at, states, fields))
    return Answer(
        {"step": at, "nodes": [_state(node, fields) for node in states]}, lines
    )


def _state(node: Any, fields: Sequence[str]) -> dict[str, Any]:
    data = asdict(node)
    for part in ("fields", "owns"):
        if fields:
            data[part] = {k: v for k, v in data[part].items() if k in fields}
    return data


def print_value(session: Session, rest: str) -> Answer:
    """Evaluate a Python expression over this state.

    It can use ``view``, as properties do, ``nodes``, every node by its name, and the
    classes of messages and enums: ``print view[n1].parent``, ``p [view[n].root for n
    in nodes]``, ``p view.messages(Join)``. The view is read-only.
    """
    if not rest:
        raise UsageError("print what?", remedy="give an expression, such as view[n1]")
    answer = session.evaluate(rest, session.position)
    return Answer({"step": session.position, **asdict(answer)}, [answer.text])


def track(session: Session, rest: str) -> Answer:
    """Show the values of an expression along the run."""
    if not rest:
        raise UsageError("track what?", remedy="give an expression, such as view[n1]")
    whole = rest.endswith(f" {WHOLE}")
    spans = session.track(rest.removesuffix(WHOLE))
    data = {"spans": [asdict(span) for span in spans]}
    return Answer(data, list(text.tracked(spans, whole=whole)))


def status(session: Session, rest: str) -> Answer:
    """Show at which steps each property is true.

    Of a liveness property, at which steps its predicate is. Without a name, also in what
    the run ends that no property declares, such as an exception.
    """
    words, whole = words_of(rest)
    statuses = session.status(words)
    lines = list(text.statuses(statuses, session.position, whole=whole))
    ending = None if words else _ended(session)
    if ending is not None:
        lines.append(text.ended(ending))
    data = {
        "properties": [asdict(each) for each in statuses],
        "ended": None if ending is None else asdict(ending),
    }
    return Answer(data, lines)


def _ended(session: Session) -> UndeclaredEnd | None:
    """Return what the run ends in that no property declares; None if it does not."""
    end, last = session.trace.end, session.timeline.first + len(session.trace.steps)
    if end is None or end.property not in UNDECLARED:
        return None
    said = "" if end.explanation is None else end.explanation.message
    return UndeclaredEnd(name=end.property, step=last, said=said)


def explain(session: Session, rest: str) -> Answer:
    """Say why a property is false here, and what it looked at.

    By default the one that the verdict is about.
    """
    end = session.trace.end
    name = rest or (None if end is None else end.property)
    if name is None:
        raise UsageError("explain which property?", remedy="status lists them")
    explanation = session.explain(session.position, name)
    data = None if explanation is None else dump(explanation)
    due = session.deadline(session.position, name)
    lines = list(text.explanation(name, explanation, due))
    holds = explanation is None
    span = None if due is None else dump(due)
    data = {"property": name, "holds": holds, "why": data, "deadline": span}
    return Answer(data, lines)


def possible(session: Session, rest: str) -> Answer:
    """List the events that can happen next, or after STEP.

    A > marks the one that did.
    """
    at = one_step(session, words_of(rest)[0])
    events = session.possible(at)
    data = {"step": at, "events": [asdict(event) for event in events]}
    return Answer(data, list(text.possible(events)))


# ---------------------------------------------------------------------------- two states


def diff(session: Session, rest: str) -> Answer:
    """Show what differs between two states.

    What is behind a -, or left of an arrow, is of the first.

    ``diff`` compares the step before with this one, ``diff A`` step A with this one,
    ``diff A B`` two steps. If another trace was given, ``diff`` and ``diff A`` compare
    the same step of both; to compare two steps of this trace, name both.
    """
    steps, nodes, others = sorted_out(session, words_of(rest)[0])
    if others or len(steps) > 2:
        raise UsageError(f"diff takes two steps and nodes, got {rest}")
    at = [step_of(session, word) for word in steps]
    data: dict[str, Any]
    if session.other is not None and len(at) < 2:
        step = at[0] if at else session.position
        differences = session.diff_other(step, nodes)
        data = {"from": step, "to": step, "other": True}
        title = f"after step {step}, - here, + in the other trace:"
    else:
        before, after = ([*at, session.position] if at else session.last_two)[:2]
        differences = session.diff(before, after, nodes)
        data = {"from": before, "to": after, "other": False}
        title = f"from step {before} to step {after}:"
    data["nodes"] = [asdict(node) for node in differences]
    return Answer(data, [title, *text.differences(differences)])


def compare(session: Session, rest: str) -> Answer:
    """Find the step at which this trace and the other part."""
    difference = session.compare()
    data = {
        "equal": difference is None,
        "first": None if difference is None else asdict(difference),
    }
    return Answer(data, list(text.comparison(difference)))
