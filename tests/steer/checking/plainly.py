"""Judges what the immediate check says by asking every property anew, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pytest

import worldline as wl
from worldline.model.events import Event
from worldline.model.verdicts import UNSEEN
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.refusing import refusal_of
from worldline.worlds.companions import Beside, Effects, Instead


class Absent(Exception):
    """Nothing is known of a node."""


class PlainView:
    """What a node knows: its own fields and timers, and those in checkpoints of others."""

    def __init__(
        self, ids: tuple[wl.NodeId, ...], known: Mapping[wl.NodeId, tuple[Any, Any]]
    ) -> None:
        self.nodes, self._known = ids, known

    def __getitem__(self, node: wl.NodeId) -> Any:
        return self._of(node)[0]

    def timers(self, node: wl.NodeId, name: str) -> list[Any]:
        return [one for one in self._of(node)[1] if one.name == name]

    def for_each_node(self, predicate: Callable[..., Any]) -> bool:
        return self._all(predicate, 1)

    def for_each_pair(self, predicate: Callable[..., Any]) -> bool:
        return self._all(predicate, 2)

    def _of(self, node: wl.NodeId) -> tuple[Any, Any]:
        if node not in self._known:
            raise Absent
        return self._known[node]

    def _all(self, predicate: Callable[..., Any], count: int) -> bool:
        known = [one for one in self.nodes if one in self._known]
        said = [predicate(self, *some) for some in combinations(known, count)]
        if all(said) and len(known) < len(self.nodes):
            raise Absent  # each property asks but one form, and answers what it says
        return all(said)


class PlainJudge:
    """Stands over the checks of a run, and complains of whatever they say otherwise.

    Attributes
    ----------
    seen
        How often what was seen.
    """

    def __init__(self, system: wl.System) -> None:
        self.system, self.seen = system, Counter[str]()

    def stand_over(self, patch: pytest.MonkeyPatch) -> None:
        before, after = ImmediateCheck.before, ImmediateCheck.after
        vetting, judge = ImmediateCheck.vetting, self

        def checked_before(
            self: ImmediateCheck, beside: Beside, event: Event, number: int = 0
        ) -> bool:
            said = before(self, beside, event, number)
            if event.kind.name not in ("START", "RESET", "RESTART"):
                judge.compare(self, beside, None)
            return said

        def checked_after(
            self: ImmediateCheck, beside: Beside, event: Event, effects: Effects
        ) -> Instead | None:
            was = self.verdicts(beside.me)
            instead = after(self, beside, event, effects)
            if beside.me in self._ones:
                can = refusal_of(judge.system, event) is not None
                judge.judge(self, beside, effects, was, instead is not None, can=can)
            return instead

        def checked_vetting(self: ImmediateCheck, beside: Beside, *told: Any) -> Any:
            vet, again = vetting(self, beside, *told)
            asked = CheckedAgain(self, judge, beside, again)

            def checked_vet(src: Any, message: Any, effects: Any, series: Any) -> Any:
                asked.effects = effects
                was = self.verdicts(beside.me)
                instead = vet(src, message, effects, series)
                judge.seen["vetted"] += 1
                judge.judge(self, beside, effects, was, instead is not None, can=True)
                return instead

            return checked_vet, asked

        patch.setattr(ImmediateCheck, "before", checked_before)
        patch.setattr(ImmediateCheck, "after", checked_after)
        patch.setattr(ImmediateCheck, "vetting", checked_vetting)

    def judge(
        self,
        check: ImmediateCheck,
        beside: Beside,
        effects: Effects,
        was: tuple[Any, ...],
        is_refused: bool,
        *,
        can: bool,
    ) -> None:
        """Judge what was said of an event, which is not undone yet if it was refused."""
        now = self.plainly(check, beside, effects)
        falls = [
            one is False and other is not False
            for one, other in zip(now, was, strict=True)
        ]
        assert is_refused == (any(falls) and can), (now, was)
        self.seen["refused"] += is_refused
        self.seen["others"] += len(check._ones[beside.me].records) > 0
        if is_refused:
            assert check.verdicts(beside.me) == was, "an answer is not taken back"
        else:
            self.compare(check, beside, effects)

    def compare(
        self, check: ImmediateCheck, beside: Beside, effects: Effects | None
    ) -> None:
        said, now = check.verdicts(beside.me), self.plainly(check, beside, effects)
        self.seen["compared"] += 1
        self.seen["decided"] += UNSEEN not in now
        self.seen["false"] += False in now
        assert said == now

    def plainly(
        self, check: ImmediateCheck, beside: Beside, effects: Effects | None
    ) -> tuple[Any, ...]:
        """Return what each property says, asked by itself."""
        system, one = self.system, check._ones[beside.me]
        timers = set(beside.timers)
        for timer, delay in () if effects is None else effects.timers:
            (timers.discard if delay is None else timers.add)(timer)
        known: dict[wl.NodeId, tuple[Any, Any]] = {beside.me: (beside.node, timers)}
        for index, record in one.records.items():
            node, kind = system.ids[index], system.types[index]
            made = kind.thaw(record.local, system.prototypes[index])
            if node != beside.me:
                known[node] = made, [timer for timer, _ in record.timers]
        view: Any = PlainView(system.ids, known)
        return tuple(_asked(prop, view) for prop in system.properties)


def _asked(prop: wl.Property, view: Any) -> Any:
    try:
        return bool(prop.predicate(view))
    except Absent:
        return UNSEEN


class CheckedAgain(dict[Any, Any]):
    """What is asked instead of `vet`, with what a plain evaluation says where it keeps."""

    effects: Effects
    """Those of the life, which `vet` is given before."""

    def __init__(
        self, check: ImmediateCheck, judge: Any, beside: Beside, again: Any
    ) -> None:
        super().__init__()
        self._check, self._judge, self._beside = check, judge, beside
        self._again = again

    def get(self, names: Any, default: Any = None) -> Any:
        """Return what is asked about fields, judged."""
        again = self._again.get(names)
        if again is None:
            return default

        def asked(series: Any) -> bool:
            check, me = self._check, self._beside.me
            was = check.verdicts(me)
            is_kept = bool(again(series))
            if is_kept:
                self._judge.seen["again"] += 1
                self._judge.judge(
                    check, self._beside, self.effects, was, False, can=True
                )
            return is_kept

        return asked
