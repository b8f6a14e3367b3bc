"""Keeping a state: a command that writes it as a trace, for other runs to begin in."""

from __future__ import annotations

from pathlib import Path

from worldline.debug.answers import Answer
from worldline.debug.session import Session
from worldline.model.absent import without
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.trace.format import write
from worldline.worlds.checkpoint import Checkpoint, take
from worldline.worlds.direct import DirectWorld


def save(session: Session, rest: str) -> Answer:
    """Write this state to a file, as a trace without steps.

    ``save here.wl``; then ``worldline check TARGET --from here.wl`` searches on from
    here, and what it finds is replayed without the steps before. ``save here.wl without
    a,b`` leaves out what is known of these nodes, which are absent there.
    """
    rest, _, absent = rest.partition(" without ")
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
    if names := [name.strip() for name in absent.split(",") if name.strip()]:
        kept = _known_without(timeline.system, kept, names)
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


def _known_without(system: System, state: Checkpoint, names: list[str]) -> Checkpoint:
    """Return a state of which nothing is known of some nodes.

    Raises
    ------
    UsageError
        If the system has no node of a name.
    """
    by_name = {node.name: node for node in system.ids}
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"there is no node {name!r} to leave out",
                remedy=f"the nodes are {', '.join(by_name)}",
            )
    nodes = [by_name[name] for name in names]
    known = without(system, state.snapshot, nodes)
    return Checkpoint(known, state.ignored)
