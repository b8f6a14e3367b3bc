"""The local states of a remembering world, each ready for handlers to start from."""

from __future__ import annotations

from typing import final

from worldline.engine.interner import Interner, mixed
from worldline.model.data.content import Frozen, fingerprint
from worldline.model.node_template import NodeTemplate
from worldline.model.system import System

_MOST_TEMPLATES = 8_192


@final
class LocalTemplates:
    """Templates of local states, by their numbers.

    Parameters
    ----------
    interners
        Those of all columns.
    """

    def __init__(self, system: System, interners: list[Interner]) -> None:
        self._types = system.types
        self._interners = [
            interners[system.layout.local(index)] for index in range(len(system.ids))
        ]
        self._templates: dict[int, NodeTemplate] = {}
        self._mixes: dict[tuple[int, int], int] = {}

    def of(self, index: int, number: int) -> NodeTemplate:
        """Return the template of a local state of a node."""
        template = self._templates.get(number)
        if template is None:
            frozen = self._interners[index].values[number]
            template = NodeTemplate(self._types[index], frozen)
            self._remember(number, template)
        return template

    def left(
        self, index: int, before: int, template: NodeTemplate, frozen: Frozen
    ) -> int:
        """Return the number of the local state that a handler left.

        Parameters
        ----------
        before, template
            The number of the one in which it began, and its template.
        frozen
            What that made of the node.
        """
        if frozen is template.frozen:
            return before
        interner = self._interners[index]
        number = interner.intern(frozen)
        if number not in self._templates:
            self._remember(number, template.after(interner.values[number]))
        return number

    def mix(self, index: int, column: int, number: int) -> int:
        """Return what a local state contributes to fingerprints; few are asked for."""
        mix = self._mixes.get((column, number))
        if mix is None:
            content = fingerprint(self._interners[index].values[number])
            mix = self._mixes[column, number] = mixed(content, column)
        return mix

    def _remember(self, number: int, template: NodeTemplate) -> None:
        if len(self._templates) >= _MOST_TEMPLATES:
            self._templates.clear()
        self._templates[number] = template
