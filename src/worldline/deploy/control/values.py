"""Arguments, answers and states as JSON, spelt as in traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from worldline.deploy.control.refusal import Refusal
from worldline.model.data.values import freeze
from worldline.model.errors import InputError, ModelError, WorldlineError
from worldline.model.node import NodeType
from worldline.model.system import System
from worldline.trace.assemble import parse
from worldline.trace.class_table import ClassTable
from worldline.trace.json_checks import Malformed, check
from worldline.trace.json_text import Json
from worldline.trace.json_values import decode, encode_value


@final
class Arguments:
    """What reads the arguments of calls: plain data, of the classes of one system."""

    def __init__(self, system: System) -> None:
        self._classes = ClassTable.of(system)

    def read(self, body: bytes) -> tuple[Any, ...]:
        """Return the arguments that a body spells, a JSON array; none if it is empty.

        No code of a user's class runs.

        Raises
        ------
        Refusal
            If it spells none.
        """
        if not body:
            return ()
        try:
            value = check(parse(body))
            if not isinstance(value, list):
                raise Refusal(
                    400,
                    "the body is no JSON array",
                    remedy='give the arguments in order: [1, {"$node": "a"}]',
                )
            given = tuple(decode(item, self._classes) for item in value)
            freeze(given)  # what is nested deeply may be no plain data
            return given
        except Malformed as error:
            raise Refusal(400, f"the body is no array of plain data: {error}") from None
        except ModelError as error:
            raise Refusal(400, f"the body is no plain data: {error.what}") from None
        except InputError as error:
            said = error.what.replace("the trace", "the body", 1)
            raise Refusal(400, said) from None
        except RecursionError:
            raise Refusal(400, "the body is nested too deeply") from None


def spell(value: Any) -> Json:
    """Return what a handler has returned as JSON.

    Raises
    ------
    Refusal
        If it is no plain data.
    """
    try:
        return encode_value(value)
    except WorldlineError as error:
        raise Refusal(500, f"the call was made, but its answer: {error.what}") from None


def spell_state(kind: NodeType, state: Any) -> tuple[dict[str, Json], list[str]]:
    """Return the fields of a node, those of its parts by ``part.field``, as JSON.

    Parameters
    ----------
    state
        What has them as attributes.

    Returns
    -------
    fields, opaque
        Those that are plain data, and the names of the others.
    """
    fields: dict[str, Json] = {}
    opaque: list[str] = []
    for holder, name, path in _fields(kind, state, ""):
        try:
            fields[path] = encode_value(getattr(holder, name))
        except Exception:  # an ignored field may hold anything, code among it
            opaque.append(path)
    return fields, opaque


def _fields(kind: NodeType, state: Any, prefix: str) -> Iterator[tuple[Any, str, str]]:
    for name in kind.roles:
        inner = kind.parts.get(name)
        if inner is None:
            yield state, name, prefix + name
        else:
            yield from _fields(inner, getattr(state, name), f"{prefix}{name}.")
