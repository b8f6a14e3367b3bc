"""Flags of a verb, made from its options, and how their values are read."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import math
import os
import re
import stat
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldline.cli.terminal import reclaim
from worldline.model.amounts import MOST
from worldline.model.errors import UsageError
from worldline.options.declaring import Option, VerbOptions, options_of
from worldline.options.values import (
    Amount,
    Assignments,
    Choice,
    File,
    NameList,
    OptionKind,
    Seconds,
    Seed,
    Switch,
    ViewFunctions,
    Whole,
)

if TYPE_CHECKING:
    from worldline.model.system import System


def add_json(parser: argparse._ActionsContainer) -> None:
    """Let a verb print one JSON object."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )


def add_options(parser: argparse.ArgumentParser, options: type[VerbOptions]) -> None:
    """Let a verb take its options: a flag for each that has one, in groups."""
    left = {one.name: one for one in options_of(options)}
    for title, text, names in options.GROUPS:
        group = parser.add_argument_group(title, textwrap.fill(text, 88) or None)
        for name in names:
            _add(group, left.pop(name))
    for one in left.values():
        _add(parser, one)


def _add(parser: argparse._ActionsContainer, one: Option) -> None:
    """Add the flag of an option. What is not given is None, whatever the default."""
    if one.flag is None:
        return
    value = one.about.value
    shape: dict[str, Any] = {"dest": one.name, "help": _help(one).replace("%", "%%")}
    if isinstance(value, Switch):
        tri = one.default is not False
        shape["action"] = argparse.BooleanOptionalAction if tri else "store_const"
        shape |= {} if tri else {"const": True}
    elif isinstance(value, Choice):
        shape["choices"] = value.words
    else:
        shape |= {"type": _reader(value), "metavar": value.metavar}
        shape["action"] = "append" if _is_repeated(value) else "store"
    parser.add_argument(one.flag, **shape)


def _is_repeated(value: OptionKind) -> bool:
    if isinstance(value, NameList):
        return value.repeated
    return isinstance(value, Assignments | ViewFunctions)


def _help(one: Option) -> str:
    """Return what the help of a command says of an option."""
    said = "; ".join(filter(None, [one.meaning, one.about.written]))
    if _is_repeated(one.about.value):
        said += "; may be repeated"
    return f"{said} (default: {one.default})" if one.says_default else said


def _reader(value: OptionKind) -> Callable[[str], Any]:
    """Return what reads a value from a command line."""
    match value:
        case Whole(least=least):
            return lambda text: _whole(text, least)
        case Seconds():
            return positive_seconds
        case Amount(most=most):
            return lambda text: _amount(text, most)
        case Seed():
            return seed
        case NameList(together=True):
            return names
        case File(folder=folder):
            return place if folder else file_place
        case _:
            return str


def given(
    arguments: argparse.Namespace,
    options: type[VerbOptions],
    system: System | None = None,
) -> dict[str, Any]:
    """Return the options that a command line gives, as the function of the verb takes them.

    Parameters
    ----------
    system
        What its predicates speak of. Its parameters went into making it.
    """
    values: dict[str, Any] = {}
    for one in options_of(options):
        value = getattr(arguments, one.name, None)
        if value is None or one.name == PARAMETERS:
            continue
        values[one.name] = _meant(one, value, system)
    return values


PARAMETERS = "parameters"
"""The option that is used up when a system is loaded."""


def _meant(one: Option, value: Any, system: System | None) -> Any:
    match one.about.value:
        case NameList(together=True, repeated=True):
            return [name for some in value for name in some]
        case Assignments(numbers=True):
            return _weights(value)
        case ViewFunctions():
            from worldline.cli.goals import goals

            assert system is not None
            return goals(system, value)
        case _:
            return value


def add_partial(parser: argparse.ArgumentParser) -> None:
    """Let a verb take a trace that breaks off."""
    parser.add_argument(
        "--partial",
        action="store_true",
        help="take a file that breaks off for what it has",
    )


def names(text: str) -> list[str]:
    """Read an option's value that is a list of names with commas between."""
    return text.split(",")


def _weights(texts: list[str]) -> dict[str, int]:
    weights = {}
    for text in texts:
        name, _, weight = text.partition("=")
        try:
            weights[name] = count(weight)
        except argparse.ArgumentTypeError:
            raise UsageError(
                f"--weight {_short(text)} is not understood",
                remedy="write --weight NAME=N",
            ) from None
    return weights


def print_json(value: dict[str, Any]) -> None:
    """Print the one object of a command."""
    reclaim()
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print(text)


def positive(text: str) -> int:
    """Read an option's value that is an int of at least 1."""
    return _whole(text, 1)


def count(text: str) -> int:
    """Read an option's value that is an int of at least 0."""
    return _whole(text, 0)


def seed(text: str) -> int:
    """Read a seed: any int within 64 bits."""
    number = _WHOLE.fullmatch(text.removeprefix("-")) and int(text)
    if number is None or abs(number) >= 2**63:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no seed of 64 bits")
    return number


_WHOLE = re.compile("[0-9]{1,20}")
"""Digits as everybody reads them: Python would take `1_0` and digits of all scripts."""


def _whole(text: str, least: int) -> int:
    if _WHOLE.fullmatch(text):
        if least <= (value := int(text)) <= MOST:
            return value
    elif _WHOLE.fullmatch(text[:20]) and text.isascii() and text.isdigit():
        value = MOST + 1
    else:
        value = least - 1
    wanted = "too large" if value > MOST else f"not a whole number of at least {least}"
    raise argparse.ArgumentTypeError(f"{_short(text)} is {wanted}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def positive_seconds(text: str) -> float:
    """Read an option's value that is a positive, finite number of seconds."""
    with contextlib.suppress(ValueError):
        if text.isascii() and "_" not in text and 0 < (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(
        f"{_short(text)} is not a positive number of seconds"
    )


def _amount(text: str, most: float) -> float:
    with contextlib.suppress(ValueError):
        if text.isascii() and "_" not in text and 0 <= (value := float(text)) <= most:
            return value
    raise argparse.ArgumentTypeError(f"{_short(text)} is no number from 0 to {most:g}")


def place(text: str) -> Path:
    """Read an option's value that says where something is to be written.

    A pipe is refused: to write into one waits for who reads it.
    """
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is the name of no file")
    try:
        mode = Path(text).stat().st_mode
    except OSError:
        return Path(text)
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        raise argparse.ArgumentTypeError(f"{text!r} is a pipe, and a file is wanted")
    return Path(text)


_MAGIC = b"\x28\xb5\x2f\xfd"
"""How a zstd file begins, and so a trace."""


def file_place(text: str) -> Path:
    """Read an option's value that says which trace is to be written."""
    path = place(text)
    # Unlike the methods of Path, these take any name for an answer.
    if os.path.isfile(text) and path.stat().st_size:  # noqa: PTH113
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise argparse.ArgumentTypeError(
                    f"{text!r} is there already, and is no trace"
                )
    if os.path.isdir(text):  # noqa: PTH112
        raise argparse.ArgumentTypeError(f"{text!r} is a folder, and a file is wanted")
    return path


def refuse_no_file(out: Path) -> None:
    """Refuse what is no place for one trace, before the search for what to write.

    Raises
    ------
    UsageError
        If it is a folder, or holds something else.
    """
    try:
        file_place(str(out))
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--out: {error}", remedy="name another file") from None


def not_usable(error: OSError) -> UsageError:
    """Return what the file system said of a file, and what can be done about it."""
    if not error.filename:
        if isinstance(error, FileNotFoundError):  # `os.getcwd` says no more than that
            return UsageError(
                "the current folder is no more", remedy="call it elsewhere"
            )
        return UsageError(error.strerror or str(error))
    remedy = "check the path and its permissions" if _is_of_the_path(error) else ""
    said = f"{error.filename}: {error.strerror or error}"
    return UsageError(said, remedy=remedy)


def _is_of_the_path(error: OSError) -> bool:
    kinds = (PermissionError, FileNotFoundError, NotADirectoryError, IsADirectoryError)
    return isinstance(error, kinds) or error.errno in (errno.EROFS, errno.ELOOP)


def assignments(texts: Iterable[str]) -> dict[str, str]:
    """Turn ``key=value`` texts into a mapping.

    Raises
    ------
    UsageError
        If one has no ``=`` or no key, or a key comes twice.
    """
    assigned: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(f"-p {text!r} gives no value", remedy="write -p key=value")
        if key in assigned:
            raise UsageError(f"-p {key}=... is given twice", remedy="give it once")
        assigned[key] = value
    return assigned
