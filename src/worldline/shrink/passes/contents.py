"""Shrinking what is in the calls of a workload: members left out, numbers nearer to 0.

The run is then one of another workload, so this is done on request alone. Each candidate
is a system of its own, in which the calls have their new arguments wherever they are
made, in the rest of the run as in what follows.

References
----------
Scott et al. (DEMi), NSDI 2016, section 3.5 and table 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.contents import (
    CallContents,
    CallKey,
    calls_of,
    left_out,
    nodes_in,
    with_contents,
)
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.system import System
from worldline.shrink.arguments import (
    GONE,
    ArgumentPart,
    PartPath,
    parts_of,
    with_parts,
)
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.matching import ANY_LAST, EXACT, LAST
from worldline.shrink.steps import ShrunkStep

_MOST_PAIRED = 24
"""Members, of which two at once are left out."""

_MATCHINGS = (EXACT, LAST, ANY_LAST)


class CallPart(NamedTuple):
    """A part of the arguments of a call."""

    call: CallKey
    part: ArgumentPart


Grouping: TypeAlias = Callable[[CallPart], Any]


@final
class Contents:
    """Leaves members out of arguments, and makes whole numbers in them smaller.

    What is equal is changed in all calls at once first, then in each call, then each for
    itself. Nodes are left out of all calls or of none, and with what happens there, so
    that all who go by a list of nodes have the same one, and are on it.

    Parameters
    ----------
    kept
        Calls that stay as they are, such as those of a prologue.
    nodes
        Whether nodes may be left out: not where some were driven before the run.
    """

    name = "contents"

    def __init__(self, kept: Collection[CallKey] = (), *, nodes: bool = True) -> None:
        self._kept = frozenset(kept)
        self._nodes = nodes

    def apply(self, campaign: Campaign) -> None:
        for grouping in _GROUPINGS:
            self._leave_out(campaign, grouping)
        self._leave_out_pairs(campaign)
        for grouping in _GROUPINGS:
            self._lessen(campaign, grouping)

    def _leave_out(self, campaign: Campaign, grouping: Grouping) -> None:
        """Leave out chunks of the members, large ones first."""
        size = len(self._groups(campaign, grouping, members=True))
        while size > 0:
            end = len(self._groups(campaign, grouping, members=True))
            while end > 0:
                begin = max(0, end - size)
                groups = self._groups(campaign, grouping, members=True)
                sites = [site for group in groups[begin:end] for site in group]
                self._try(campaign, sites, GONE)
                end = begin
            size //= 2

    def _leave_out_pairs(self, campaign: Campaign) -> None:
        """Leave out two members at once: of voters one more makes no other majority."""
        last = len(self._groups(campaign, _by_value, members=True)) - 1
        while 0 < last < _MOST_PAIRED:
            groups = self._groups(campaign, _by_value, members=True)
            last = min(last, len(groups) - 1)
            if not any(
                self._try(campaign, [*groups[first], *groups[last]], GONE)
                for first in reversed(range(last))
            ):
                last -= 1

    def _lessen(self, campaign: Campaign, grouping: Grouping) -> None:
        number = len(self._groups(campaign, grouping, members=False)) - 1
        while number >= 0:
            groups = self._groups(campaign, grouping, members=False)
            sites = groups[number] if number < len(groups) else []
            if not any(
                self._try(campaign, sites, value)
                for value in _nearer(sites[0].part.value if sites else 0)
            ):
                number -= 1

    def _groups(
        self, campaign: Campaign, grouping: Grouping, *, members: bool
    ) -> list[list[CallPart]]:
        groups: dict[Any, list[CallPart]] = {}
        for key in self._calls(campaign):
            for part in parts_of(key[1]):
                if part.is_member is members and self._may(grouping, part):
                    site = CallPart(key, part)
                    groups.setdefault(grouping(site), []).append(site)
        return list(groups.values())

    def _may(self, grouping: Grouping, part: ArgumentPart) -> bool:
        has_nodes = part.is_member and any(True for _ in nodes_in(part.value))
        return not has_nodes or (self._nodes and grouping is _by_value)

    def _calls(self, campaign: Campaign) -> Iterable[CallKey]:
        """Return the calls of the best run that are the workload's and may change."""
        system = campaign.runner.world.system
        made = {_key_of(step.known.event) for step in campaign.best.steps}
        origins = {(c.name, freeze(c.after)): c.key for c in system.contents}
        return [
            key
            for key in calls_of(system)
            if key in made and origins.get(key, key) not in self._kept
        ]

    def _try(self, campaign: Campaign, sites: list[CallPart], value: Frozen) -> bool:
        """Try a run in whose calls these parts have another value."""
        edits: dict[CallKey, dict[PartPath, Frozen]] = {}
        for site in sites:
            edits.setdefault(site.call, {})[site.part.path] = value
        changed = {
            (name, arguments): with_parts(arguments, parts)
            for (name, arguments), parts in edits.items()
        }
        system = campaign.runner.world.system
        try:
            other = with_contents(system, _composed(system, changed))
        except ModelError:
            return False
        steps: Iterable[ShrunkStep] = campaign.best.steps
        gone = {system.index[node] for node in left_out(other)}
        steps = [step for step in steps if step.known.index not in gone]
        runner = campaign.runner.of_system(other)
        told = _told(runner, steps, changed)
        return any(campaign.attempt_with(runner, told, by) for by in _MATCHINGS)


def _by_value(site: CallPart) -> Any:
    return site.part.value


def _by_call(site: CallPart) -> Any:
    return site.call, site.part.value


def _by_place(site: CallPart) -> Any:
    return site.call, site.part.path


_GROUPINGS: tuple[Grouping, ...] = (_by_value, _by_call, _by_place)


def _nearer(number: int) -> Iterator[int]:
    """Yield numbers nearer to 0, the nearest first.

    Examples
    --------
    >>> list(_nearer(10)), list(_nearer(-3)), list(_nearer(0))
    ([0, 5, 8, 9], [0, -2], [])
    """
    sign, away = (-1 if number < 0 else 1), abs(number)
    while away:
        yield sign * (abs(number) - away)
        away //= 2


def _key_of(event: Event) -> CallKey | None:
    return (event.name, event.key[-1]) if event.kind is Kind.CALL else None


def _composed(
    system: System, changed: dict[CallKey, tuple[Any, ...]]
) -> list[CallContents]:
    """Return the contents of a system, of whose calls some have changed once more."""
    plain = system.plain or system
    present = {one.key: one.after for one in system.contents}
    contents = []
    for key, call in calls_of(plain).items():
        arguments = present.get(key, call.arguments)
        arguments = changed.get((call.name, freeze(arguments)), arguments)
        if freeze(arguments) != key[1]:
            contents.append(CallContents(call.name, call.arguments, arguments))
    return contents


def _told(
    runner: CandidateRunner,
    steps: Iterable[ShrunkStep],
    changed: dict[CallKey, tuple[Any, ...]],
) -> list[ShrunkStep]:
    """Return steps as another runner knows them, with the changed calls."""
    told = []
    for step in steps:
        event, key = step.known.event, _key_of(step.known.event)
        if key in changed:
            event = Event(
                event.kind,
                event.node,
                part=event.part,
                name=event.name,
                payload=changed[key],
            )
        known = runner.world.known(event)
        told.append(ShrunkStep(known, step.choices, step.sending, step.place))
    return told
