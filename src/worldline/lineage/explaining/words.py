"""Faults in words."""

from __future__ import annotations

from collections.abc import Iterable

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    in_order,
)
from worldline.injection.subject import Goal
from worldline.model.counts import counted
from worldline.model.errors import UsageError

_CEASES = {
    CrashSemantics.MUTE: "sends nothing any more",
    CrashSemantics.HALT: "stops, and its state is gone",
    CrashSemantics.PARTIAL: "stops while it sends, and its state is gone",
}


def sentences(faults: FaultSet, semantics: CrashSemantics) -> list[str]:
    """Say what each fault of a set does, in the order of time."""
    return [sentence(fault, semantics) for fault in in_order(faults)]


def sentence(fault: Fault, semantics: CrashSemantics) -> str:
    """Say what a fault does.

    Examples
    --------
    >>> sentence(Loss(1, "a", "b"), CrashSemantics.MUTE)
    'in round 1, what a sends to b is lost'
    >>> sentence(Crash(2, "a"), CrashSemantics.MUTE)
    'from round 2 on, a sends nothing any more (crash)'
    """
    match fault:
        case Loss(time, src, dst):
            return f"in round {time}, what {src} sends to {dst} is lost"
        case Delay(time, src, dst, by):
            late = f"{counted(by, 'round')} late"
            return f"in round {time}, what {src} sends to {dst} is {late}"
        case Crash(time, node, until, reaches):
            said = f"from round {time} on, {node} {_CEASES[semantics]} (crash)"
            if until is not None:
                said = (
                    f"in round {time}, {node} crashes, and it starts again in {until}"
                )
            if reaches:
                said += (
                    f"; what it sends in that round still reaches {', '.join(reaches)}"
                )
            return said


def names(faults: Iterable[Fault]) -> list[str]:
    """Return the short form of faults, which `parse` reads."""
    return [str(fault) for fault in in_order(frozenset(faults))]


def goal_words(goal: Goal) -> str:
    """Return a goal as text: the row of a program, or what it calls itself.

    Examples
    --------
    >>> goal_words(("c", "data", 1))
    '(c, data, 1)'
    >>> goal_words(("log(c, data)",))
    'log(c, data)'
    """
    if isinstance(goal, tuple):
        if len(goal) == 1 and str(goal[0]).endswith(")"):
            return str(goal[0])  # a row that is promised as it is
        return f"({', '.join(map(str, goal))})"
    return str(goal)


def parse(text: str) -> Fault:
    """Read the short form of a fault.

    Examples
    --------
    >>> parse("loss a->b@1")
    Loss(time=1, src='a', dst='b')
    >>> str(parse("crash a@2..4 reaching b,c"))
    'crash a@2..4 reaching b,c'

    Raises
    ------
    UsageError
        If it is not the form of a fault.
    """
    kind, _, rest = text.strip().partition(" ")
    try:
        if kind == "crash":
            return _crash(rest)
        src, _, there = rest.partition("->")
        dst, _, time = there.rpartition("@")
        if src and dst and kind == "loss":
            return Loss(int(time), src, dst)
        if src and dst and kind == "delay":
            time, _, by = time.partition("+")
            return Delay(int(time), src, dst, int(by))
    except ValueError:
        pass
    raise UsageError(
        f"{text!r} is no fault",
        remedy="write 'loss a->b@1', 'delay a->b@1+2' or 'crash a@2'",
    )


def _crash(text: str) -> Crash:
    text, _, reaching = text.partition(" reaching ")
    node, _, when = text.rpartition("@")
    time, _, until = when.partition("..")
    reaches = tuple(reaching.split(",")) if reaching else ()
    if not node:
        raise ValueError(text)
    return Crash(int(time), node, int(until) if until else None, reaches)
