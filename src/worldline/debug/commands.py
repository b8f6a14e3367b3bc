"""The table of commands, and the function that answers a line.

Nothing here prints: an `Answer` is JSON data, and the same as lines of text.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.debug import call_commands, saving, state_commands, step_commands, text
from worldline.debug.answers import Answer
from worldline.debug.entering import enter
from worldline.debug.session import Session
from worldline.model.errors import UsageError
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.trace.schema import dump


@final
@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes
    ----------
    names
        Its name, then shorter ones.
    usage
        What may follow the name.
    run
        What answers it, from what follows the name.
    converses
        Whether it goes on for as long as somebody likes: no clock looks at it.
    """

    names: tuple[str, ...]
    usage: str
    run: Callable[[Session, str], Answer]
    converses: bool = False

    @property
    def help(self) -> list[str]:
        """What it does: in the first line, and more in others."""
        return (inspect.getdoc(self.run) or "").splitlines()


def find(name: str) -> Command:
    """Return the command of a name.

    Raises
    ------
    UsageError
        If there is none; the message names one that is spelt alike.
    """
    for command in COMMANDS.values():
        if name in command.names:
            return command
    names = [each for command in COMMANDS.values() for each in command.names]
    alike = difflib.get_close_matches(name, names, 1)
    remedy = f"did you mean {alike[0]}?" if alike else "help lists the commands"
    raise UsageError(f"there is no command {name!r}", remedy=remedy)


def answer(session: Session, line: str) -> Answer:
    """Answer one command line.

    Raises
    ------
    UsageError
        If it is no command, or asks for what there is not.
    """
    line = line.strip()
    if line.startswith("/"):
        line = f"filter {line[1:]}"
    elif line.startswith("?"):
        line = f"help {line[1:]}"
    name, _, rest = line.partition(" ")
    command = find(name)
    if command.converses:
        return command.run(session, rest.strip())
    with listening(), watched():
        return command.run(session, rest.strip())


def split(line: str) -> list[str]:
    """Return the commands of a line, between semicolons outside quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for character in line:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == ";" and depth <= 0:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def info(session: Session, rest: str) -> Answer:
    """Show what run this is, and what to know of it."""
    trace, timeline = session.trace, session.timeline
    due = None if trace.end is None else trace.end.span
    data = {
        "system": trace.header.system,
        "nodes": list(trace.header.names),
        "verdict": None if trace.end is None else trace.end.verdict,
        "property": None if trace.end is None else trace.end.property,
        "critical": None if trace.end is None else trace.end.critical,
        "deadline": None if due is None else dump(due),
        "first": timeline.first,
        "last": timeline.last,
        "steps": len(trace.run),
        "position": session.position,
        "notes": list(session.notes),
    }
    return Answer(data, list(text.opening(session)))


def help_on(session: Session, rest: str) -> Answer:
    """List the commands, or explain one."""
    if rest:
        command = find(rest)
        short = f"  (also: {', '.join(command.names[1:])})" if command.names[1:] else ""
        usage = f"{command.names[0]} {command.usage}".rstrip() + short
        lines = [usage, *(f"  {line}".rstrip() for line in command.help)]
    else:
        lines = []
        for command in COMMANDS.values():
            usage = f"{command.names[0]} {command.usage}"
            lines.append(f"{usage:<34} {command.help[0]}")
        lines.append("Enter repeats the last command; help COMMAND says more.")
    return Answer({"help": lines}, lines)


def leave(session: Session, rest: str) -> Answer:
    """Leave; so does the end of the input (Ctrl-D)."""
    return Answer({}, [])


_TABLE = (
    Command(("step", "s"), "[N]", step_commands.step),
    Command(("back", "b"), "[N]", step_commands.back),
    Command(("jump", "j"), "STEP", step_commands.jump),
    Command(("next", "n"), "[NODE]", step_commands.next_of_node),
    Command(("previous", "prev"), "[NODE]", step_commands.previous_of_node),
    Command(("where", "w"), "[STEP]", step_commands.where),
    Command(("list", "l"), "[KIND|NAME|NODE ...] [--all]", step_commands.list_steps),
    Command(("filter", "f", "/"), "REGEX", step_commands.filter_steps),
    Command(("why",), "[STEP] [--diagram] [--all]", step_commands.why),
    Command(("diagram", "g"), "[STEP] [RADIUS]", step_commands.diagram),
    Command(("calls", "c"), "[STEP]", call_commands.list_calls),
    Command(("into", "down"), "[N]", call_commands.into),
    Command(("out", "up"), "", call_commands.out),
    Command(("enter", "e"), "[STEP] [--debugpy [PORT]]", enter, converses=True),
    Command(("state", "st"), "[NODE|FIELD|STEP ...]", state_commands.state),
    Command(("print", "p"), "EXPRESSION", state_commands.print_value),
    Command(("track", "t"), "EXPRESSION", state_commands.track),
    Command(("status",), "[PROPERTY ...] [--all]", state_commands.status),
    Command(("explain", "x"), "[PROPERTY]", state_commands.explain),
    Command(("possible", "enabled"), "[STEP]", state_commands.possible),
    Command(("diff", "d"), "[A [B]] [NODE ...]", state_commands.diff),
    Command(("compare", "cmp"), "", state_commands.compare),
    Command(("save",), "FILE [without NODE,...]", saving.save),
    Command(("info", "i"), "", info),
    Command(("help", "h", "?"), "[COMMAND]", help_on),
    Command(("quit", "q", "exit"), "", leave),
)
COMMANDS = {command.names[0]: command for command in _TABLE}
"""Every command, by its name; in the order in which help lists them."""
