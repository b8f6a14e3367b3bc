"""Commands that move, and that show and find steps.

A command takes a session and what follows its name, and returns an `Answer`; its
docstring is what ``help`` says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from worldline.debug import text
from worldline.debug.answers import Answer
from worldline.debug.arguments import number_of, one_step, step_of, words_of
from worldline.debug.causes import step_line
from worldline.debug.session import Session
from worldline.model.errors import UsageError
from worldline.show.diagram import part
from worldline.trace.records import StepRecord
from worldline.trace.schema import dump

_DRAWN = "--diagram"

_RADIUS = 8
"""Steps before and after the one at which a diagram is drawn."""


def _here(session: Session) -> Answer:
    """Answer with the step at which the session stands."""
    return _at(session, session.position)


def _at(session: Session, step: int) -> Answer:
    record = session.record(step)
    data = {
        "step": step,
        "record": None if record is None else dump(record),
        "known": session.timeline.holds(step),
        "failed": session.timeline.is_void(step),
    }
    return Answer(data, list(text.place(session, step)))


def _steps(session: Session, steps: Sequence[StepRecord], *, whole: bool) -> Answer:
    lines = [asdict(step_line(step, session.trace.header)) for step in steps]
    return Answer({"steps": lines}, list(text.rows(session, steps, whole=whole)))


def step(session: Session, rest: str) -> Answer:
    """Go one step forward, or N.

    The step that was taken is shown, and the state is then the one after it.
    """
    session.move(number_of(rest) if rest else 1)
    return _here(session)


def back(session: Session, rest: str) -> Answer:
    """Go one step back, or N."""
    session.move(-(number_of(rest) if rest else 1))
    return _here(session)


def jump(session: Session, rest: str) -> Answer:
    """Go to a step: a number, first, start, end or critical.

    ``first`` is before any node has started, ``start`` is step 0, where the run
    itself begins, ``end`` is the last state that is known: the violation.
    ``critical`` is the critical transition of a run into a dead state.
    """
    if not rest:
        raise UsageError("jump where?", remedy="give a step, such as 5 or end")
    session.jump(step_of(session, rest))
    return _here(session)


def next_of_node(session: Session, rest: str) -> Answer:
    """Go to the next step of a node.

    The node at which this step was, by default.
    """
    session.move_at(_node(session, rest))
    return _here(session)


def previous_of_node(session: Session, rest: str) -> Answer:
    """Go back to the previous step of a node.

    The node at which this step was, by default.
    """
    session.move_at(_node(session, rest), back=True)
    return _here(session)


def _node(session: Session, word: str) -> str:
    if word:
        return word
    record = session.record(session.position)
    if record is None or record.node is None:
        raise UsageError("this step is at no node", remedy="name one")
    return record.node


def where(session: Session, rest: str) -> Answer:
    """Show this step, or STEP: what changed, what was sent."""
    return _at(session, one_step(session, words_of(rest)[0]))


# ------------------------------------------------------------------------- the steps


def list_steps(session: Session, rest: str) -> Answer:
    """List the steps of a kind, a name, a node.

    ``list timer``, ``list Join``, ``list deliver n1``; of all words, if several. A kind is one of start,
    deliver, timer, call and the faults; a name is that of a message, timer or call.
    """
    words, whole = words_of(rest)
    return _steps(session, session.list(words), whole=whole)


def filter_steps(session: Session, rest: str) -> Answer:
    """List the steps whose text matches a regular expression.

    The text is what ``where`` shows: ``filter root: .* → n1`` lists the steps at which
    a root pointer became n1. Shorter: ``/root: .* → n1``.
    """
    if not rest:
        raise UsageError("filter by what?", remedy="give a regular expression")
    return _steps(session, session.search(rest), whole=True)


def why(session: Session, rest: str) -> Answer:
    """Show what triggered a step, and what that, and so on.

    A message is triggered by the step that sent it, a timer by the one that set it, a
    transport error by what broke the connection. The chain ends at what came from
    outside: a start, a call or a fault. --all shows every step without which this
    one might not have happened (Lamport's happens-before). --diagram draws how the
    messages went that led to it: with a lane for each node, and with times if a clock
    ran; with --all, of all those steps.
    """
    words, whole = words_of(rest)
    drawn = _DRAWN in words
    chain = session.why(one_step(session, [word for word in words if word != _DRAWN]))
    if not drawn:
        lines = text.past(chain) if whole else text.chain(chain)
        return Answer(asdict(chain), list(lines))
    led = chain.past if whole else [cause.step for cause in chain.chain]
    numbers = {step.step for step in led}
    rows = list(part(session.trace, numbers, at=chain.chain[0].step.step))
    return Answer({**asdict(chain), "lines": rows}, rows)


def diagram(session: Session, rest: str) -> Answer:
    """Draw the steps around, with a lane for each node.

    ● delivered, ○ no handler took it, C call, o timer, S start, ✗ the handler
    failed, R reset, ! transport error; ``worldline show --diagram`` has the whole key.
    """
    words, _ = words_of(rest)
    radius = number_of(words.pop()) if len(words) > 1 else _RADIUS
    at = one_step(session, words)
    session.record(at)
    lines = list(part(session.trace, range(at - radius, at + radius + 1), at=at))
    return Answer({"step": at, "lines": lines}, lines)
