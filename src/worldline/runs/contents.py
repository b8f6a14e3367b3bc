"""The other contents of calls in the header of a trace: written, and read again.

A file says values alone. They are made of the classes and nodes of the system that
stands on the command line, and checked as calls from outside are.
"""

from __future__ import annotations

from typing import Any

from worldline.model.contents import CallContents, with_contents
from worldline.model.errors import InputError, ModelError
from worldline.model.system import System
from worldline.trace.class_table import ClassTable
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.json_values import decode, encode_value
from worldline.trace.records import CONTENTS, Header

_KEYS = {"call", "was", "is"}


def contents_record(contents: CallContents) -> Json:
    """Return what a header says of a call with other arguments."""
    return {
        "call": contents.name,
        "was": encode_value(contents.before),
        "is": encode_value(contents.after),
    }


def recorded_contents(header: Header, system: System) -> System:
    """Return a system with the contents that its calls had in a run.

    Raises
    ------
    InputError
        If the system has no such calls, or cannot make them so.
    """
    listed = header.options.get(CONTENTS)
    # A system that is given may be that of the run already.
    if listed is None or [*map(contents_record, system.contents)] == listed:
        return system
    if not isinstance(listed, list):
        raise _none_such(listed)
    classes = ClassTable.of(system)
    try:
        return with_contents(system, [_read(one, classes) for one in listed])
    except ModelError as error:
        raise InputError(
            f"the trace has calls with other contents: {error.what}",
            remedy="replay it with the system and parameters that it was recorded with",
        ) from None


def _read(record: Json, classes: ClassTable) -> CallContents:
    if not isinstance(record, dict) or record.keys() != _KEYS:
        raise _none_such(record)
    name: Any = record["call"]
    before, after = (decode(record[key], classes) for key in ("was", "is"))
    if not (isinstance(name, str) and type(before) is type(after) is tuple):
        raise _none_such(record)
    return CallContents(name, before, after)


def _none_such(record: Json) -> InputError:
    return InputError(
        f"the trace has the contents {shorten(show(record), 60)}, which are none",
        remedy="record it anew",
    )
