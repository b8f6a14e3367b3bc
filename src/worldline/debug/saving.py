"""Keeping a state: a command that writes it as a trace, for other runs to begin in."""

from __future__ import annotations

from pathlib import Path

from worldline.debug.answers import Answer
from worldline.debug.session import Session
from worldline.model.errors import UsageError
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.trace.format import write
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld


def save(session: Session, rest: str) -> Answer:
    """Write this state to a file, as a trace without steps.

    ``save here.wl``; then ``worldline check TARGET --from here.wl`` searches on from
    here, and what it finds is replayed without the steps before.
    """
    if not rest:
        raise UsageError("save to which file?", remedy="write save FILE.wl")
    if Path(rest).exists():
        raise UsageError(f"{rest} is there already", remedy="give another name")
    timeline, step = session.timeline, session.position
    if timeline.is_void(step):
        raise UsageError(
            f"the handler of step {step} fails, so it leads to no state",
            remedy="go back a step",
        )
    kept = take(timeline.at(step))
    trace = record(
        DirectWorld(timeline.system),
        [],
        [],
        [],
        ending=Ending(None, None, Verdict.UNKNOWN, "no property was judged"),
        engine="debug",
        seed=session.trace.header.seed,
        begins=kept,
    )
    write(trace, rest)
    return Answer(
        {"step": step, "file": rest}, [f"the state of step {step} is in {rest}"]
    )
