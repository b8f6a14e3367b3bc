"""From a trace to its system: what a file names is a hint for people.

The sender of a trace could name any function in it, and loading a system runs code. So
only a system of the zoo is loaded because a file says so; all else has to be named
by the reader of the file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from worldline.loading import builtin
from worldline.loading.loader import load, same_target
from worldline.loading.opening import SystemTarget as Given
from worldline.loading.opening import open_system, texts_of
from worldline.model.errors import InputError, UsageError
from worldline.model.kinds import BUDGETS
from worldline.model.network import recorded
from worldline.model.network.recorded import RECORDED
from worldline.model.printable import one_line
from worldline.model.programs import PROGRAM_SUFFIX
from worldline.model.system import DEPLOYED, System, SystemOrigin
from worldline.runs.contents import recorded_contents
from worldline.runs.predicted import as_predicted
from worldline.trace.format import StrPath
from worldline.trace.json_text import shorten, show
from worldline.trace.records import (
    DEVIATION,
    FREE,
    INJECTED,
    Header,
)
from worldline.trace.state import UNSEEN

_LARGEST = 100
"""Of what a trace may ask of the zoo by itself: a number, or how many of something."""

_MOST = 10_000
"""The same of a system that somebody has named, whose numbers may mean anything."""

TraceTarget: TypeAlias = Given | Sequence[str]
"""A system, or what loads or makes one: also the files of a program."""


def words_of(target: str) -> list[str]:
    """Return a target as the words that name it on a command line."""
    try:
        words = shlex.split(target)
    except ValueError:
        return [target]
    return words if words and all(map(is_program, words)) else [target]


def is_program(word: str) -> bool:
    """Say whether a word names a Dedalus program: a file, or one of the zoo."""
    if not word.startswith(builtin.PREFIX):
        return word.endswith(PROGRAM_SUFFIX)
    return word.removeprefix(builtin.PREFIX) in builtin.programs()


def command(
    verb: str,
    place: StrPath,
    target: str | None,
    parameters: Mapping[str, str] = MappingProxyType({}),
    told: Header | None = None,
) -> str:
    """Return the command line that takes a trace and, where it has to be said, a target.

    Parameters
    ----------
    parameters
        Those of the trace: it has those of them that a file may not ask for by itself.
    told
        What the file says, if that may be another target, or other parameters.

    Examples
    --------
    >>> command("replay", "my run.wl", "counter.py")
    "worldline replay 'my run.wl' counter.py"
    >>> command("show", "run.wl", "zoo:toy")
    'worldline show run.wl'
    """
    file = os.fspath(place)
    targets = [] if target is None else words_of(target)
    if target is not None and _is_of_the_zoo(target):
        targets = [] if told is None or told.target == target else targets
    words = [f"./{word}" if word[:1] == "-" else word for word in (file, *targets)]
    most = _LARGEST if target is None or _is_of_the_zoo(target) else _MOST
    for name, value in parameters.items():
        is_other = told is not None and told.parameters.get(name) != value
        if is_other or _is_large(value, most):
            words += ["-p", f"{name}={value}"]
    return shlex.join(["worldline", verb, *words])


def with_file(command: str, predicates: StrPath) -> str:
    """Return a command with the file of predicates that it needs."""
    return f"{command} --predicates {shlex.quote(os.fspath(predicates))}"


def call(place: StrPath, target: str | None, predicates: StrPath | None = None) -> str:
    """Return the call of Python that replays a trace."""
    given = "system=..." if target is None else repr(target)
    more = "" if predicates is None else f", predicates={os.fspath(predicates)!r}"
    return f"wl.replay({os.fspath(place)!r}, {given}{more})"


def system_of(
    header: Header,
    given: TraceTarget | None = None,
    parameters: Mapping[str, str | int | float] | None = None,
    *,
    how: Callable[[str | None], str],
) -> System:
    """Return the system of a trace, in its present form.

    Parameters
    ----------
    given
        The system, or what loads it; not needed for a system of the zoo.
    parameters
        Go over those of the trace.
    how
        Returns what to write instead, for the target that the trace names.

    Raises
    ------
    UsageError
        If the system is of nowhere or not of the zoo, and was not given; or there is
        no such system.
    """
    texts = texts_of(parameters)
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if given is not None and not isinstance(given, str | Sequence):
        if not isinstance(given, System):
            _refuse_large(header, texts, _MOST)
            texts = {**header.parameters, **texts}
        return as_recorded(header, open_system(given, texts))
    words = named(header, given, texts, how=how)
    return loaded(header, words, {**header.parameters, **texts})


def named(
    header: Header,
    given: str | Sequence[str] | None,
    parameters: Mapping[str, str],
    *,
    how: Callable[[str | None], str],
) -> list[str]:
    """Return what loads the system of a trace: what was given, or a name in the zoo.

    Raises
    ------
    UsageError
        If nothing was given, and what the trace names is not in the zoo; or it is
        larger than anybody has asked for.
    """
    target = header.target
    if given:
        words = [given] if isinstance(given, str) else list(given)
        of_the_zoo = any(map(_is_of_the_zoo, words))
        _refuse_large(header, parameters, _LARGEST if of_the_zoo else _MOST)
        return words
    if target is None:
        raise UsageError(
            "the trace does not say from where its system is loaded",
            remedy=f"say it: {how(None)}",
        )
    if _is_of_the_zoo(target):
        _refuse_large(header, parameters, _LARGEST)
        return [target]
    raise UsageError(
        f"the trace says that it is a run of {one_line(target)}, which is not loaded "
        "because a file says so",
        remedy=f"if you trust it: {one_line(how(target))}",
    )


def loaded(
    header: Header, words: Sequence[str], parameters: Mapping[str, str]
) -> System:
    """Load the system of a trace from what names it, with all of its parameters.

    Raises
    ------
    UsageError
        If it cannot be loaded.
    """
    if all(map(is_program, words)):
        return _run_of(shlex.join(words), parameters)
    if len(words) > 1:
        raise UsageError(
            f"{' '.join(words)} cannot be read as one program",
            remedy=f"give one target, or several {PROGRAM_SUFFIX} files",
        )
    try:
        system = load(words[0], parameters)
    except UsageError as error:
        raise _of_another(header, words[0], parameters, error) from error.__cause__
    return as_recorded(header, system)


def _of_another(
    header: Header, word: str, parameters: Mapping[str, str], error: UsageError
) -> UsageError:
    """Return the error, or what to say of a parameter that only the system of the trace has."""
    name, target = error.parameter, header.target
    is_its_own = target is None or same_target(word, target)
    if not name or is_its_own or parameters[name] != header.parameters.get(name):
        return error
    shown = shorten(one_line(f"{target} -p {name}={parameters[name]}"), 200)
    return UsageError(
        f"{one_line(word)} has no parameter {shorten(repr(name), 60)}, and the trace is a run of "
        f"{shown}",
        remedy="give the system that it is a run of",
    )


def _run_of(files: str, parameters: Mapping[str, str]) -> System:
    """Load a run of programs, whose traces name them and not what makes the system."""
    system = load(builtin.run_of_programs(), {**parameters, "files": files})
    if system.origin is not None:
        given = tuple((k, v) for k, v in parameters.items() if k != "files")
        system.origin = SystemOrigin(files, given, system.origin.source)
    return system


def _refuse_large(header: Header, given: Mapping[str, str], most: int) -> None:
    """Refuse parameters that make a system of which a few bytes take all memory."""
    large = [
        f"-p {shorten(one_line(f'{name}={value}'), 60)}"
        for name, value in header.parameters.items()
        if name not in given and _is_large(value, most)
    ]
    if not large:
        return
    shown = shorten(" ".join(large), 400)
    meant = "it is" if len(large) == 1 else "they are"
    raise UsageError(
        f"the trace asks for {shown}, which is more than a file may ask for",
        remedy=f"if {meant} meant: {shown}",
    )


def _is_large(value: str, most: int) -> bool:
    """Say whether a parameter is a number above the most, or a list of as many."""
    digits = re.sub(r"[^0-9]", "", value)
    is_number = value.strip().strip("+-").replace("_", "").isdecimal()
    is_large = len(digits) > 9 or int(digits or 0) > most
    return value.count(",") >= most or (is_number and is_large)


def _is_of_the_zoo(target: str) -> bool:
    return target.startswith(builtin.PREFIX)


def as_recorded(header: Header, system: System) -> System:
    """Return a system as a run had it: its faults, and the contents of its calls."""
    made = as_predicted(header, _injected(header, system))
    return recorded_contents(header, made)


def _injected(header: Header, system: System) -> System:
    """Return a system with the faults of a run in which they were injected."""
    scope = header.options.get(INJECTED)
    if not isinstance(scope, str) or system.injected is not None:
        return system
    free = header.options.get(FREE)
    if scope == DEPLOYED:
        return _deployed(header, system)
    if free is None:
        return system.under_injection(scope)
    if not isinstance(free, list) or not set(map(str, free)) <= set(BUDGETS):
        raise InputError(
            f"the trace has the faults {shorten(show(free), 60)}, which are none",
            remedy="record it anew",
        )
    return system.under_injection(scope, tuple(map(str, free)))


def _deployed(header: Header, system: System) -> System:
    """Return a system as a recorded run had it, on the network that this was possible on."""
    network = header.network
    if network.get("name") != RECORDED:
        return _unseen(header, system.under_recording())
    missing, names = network.get("missing"), {node.name for node in system.ids}
    if not isinstance(missing, list) or not names.issuperset(map(str, missing)):
        raise _unknown_nodes(missing)
    absent = tuple(map(str, missing))
    made = system.under_recording(recorded(of=system.network, missing=absent))
    deviation = header.options.get(DEVIATION)
    if isinstance(deviation, dict):
        step, reason = deviation.get("step"), deviation.get("reason")
        if type(step) is int and isinstance(reason, str):
            made.deviation = step, reason, deviation.get("sure") is not False
    return _unseen(header, made)


def _unseen(header: Header, system: System) -> System:
    """Return a system with what is not known of its run."""
    unseen = header.options.get(UNSEEN)
    if unseen is None:
        return system
    nodes = unseen.get("nodes") if isinstance(unseen, dict) else None
    names = {node.name for node in system.ids}
    if not isinstance(nodes, dict) or not nodes.keys() <= names:
        raise _unknown_nodes(unseen)
    lost = {n: step for n, step in nodes.items() if step is None or type(step) is int}
    if lost.keys() != nodes.keys():
        raise _unknown_nodes(unseen)
    system.unseen = lost, unseen.get("histories") is True
    return system


def _unknown_nodes(said: Any) -> InputError:
    return InputError(
        f"the trace has no journals of {shorten(show(said), 60)}, which are none of its "
        "nodes",
        remedy="record it anew",
    )


def refuse_undeclared(header: Header, place: StrPath, what: str) -> None:
    """Refuse a recorded run that is not possible on the network that was declared.

    Parameters
    ----------
    what
        Who refuses it, and knows that network alone.

    Raises
    ------
    UsageError
        If it is one; it names the step.
    """
    if header.network.get("name") != RECORDED:
        return
    deviation, of = header.options.get(DEVIATION), header.network.get("of")
    name = of.get("name") if isinstance(of, dict) else None
    said, does = "something", "does not allow"
    if isinstance(deviation, dict):
        step, reason = deviation.get("step"), deviation.get("reason")
        said = f"step {step}: {reason}"
        if deviation.get("sure") is False:
            does = "is not known to allow"
    raise UsageError(
        f"{os.fspath(place)} is a recorded run that {one_line(str(name))} {does}, "
        f"in {one_line(said)}; {what} knows the declared network alone",
        remedy="look at it with worldline debug, or change the network of the system",
    )
