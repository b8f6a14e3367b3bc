"""The answers of one node to all that it is asked, kept and asked again as it changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import final

from worldline.model.errors import Timeless
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.running import Series, said
from worldline.model.verdicts import UNSEEN
from worldline.steer.checking.questions import (
    FAILS,
    JudgedAnswer,
    JudgedForm,
    JudgedProperty,
    JudgedQuestion,
)
from worldline.steer.checking.standpoint import Standpoint


@final
class NodeJudge:
    """The answers of one node, from what it knows.

    Parameters
    ----------
    stand
        What it knows.
    properties
        Which it judges.

    Attributes
    ----------
    wholes
        The properties, in order.
    spoilt
        The questions whose answers have to be worked out.
    unseen
        The names of the properties whose answer is unseen.
    errors
        How what was asked has failed, by its name; it is unseen then.
    """

    def __init__(
        self, stand: Standpoint, properties: list[Property], errors: dict[str, str]
    ) -> None:
        self.stand, self.me = stand, stand.name_of(stand.me)
        self.spoilt: dict[JudgedQuestion, None] = {}
        self.unseen: dict[str, None] = {}
        self.errors = errors
        self.readers_of_fields: dict[str, dict[JudgedQuestion, None]] = {}
        self.readers_of_hidden: dict[JudgedQuestion, None] = {}
        self.readers_of_others: dict[int, dict[JudgedQuestion, None]] = {}
        self._forms: dict[tuple[Pure, int], JudgedForm] = {}
        self._asked: list[tuple[JudgedQuestion, JudgedAnswer]] = []
        self._series = Series()
        self.wholes = [JudgedProperty(self, prop) for prop in properties]
        self.spoilt.update(dict.fromkeys(self.wholes))

    def form(self, function: Pure, arity: int) -> JudgedForm:
        """Return a form, by its function and the number of nodes that this is given."""
        form = self._forms.get((function, arity))
        if form is None:
            form = self._forms[function, arity] = JudgedForm(self, function, arity)
        return form

    def field_changed(self, name: str) -> None:
        """Take note that a field of the node has changed."""
        stand = self.stand
        stand.forget(name)
        readers = self.readers_of_fields.get(name)
        if not readers:
            return
        if name in stand.parts:
            for question in readers:
                question.own.pop(name, None)
        else:
            value = stand.own_field((name,))
            for question in readers:
                question.own[name] = value
        self.spoilt.update(readers)

    def hidden_changed(self) -> None:
        """Take note that its timers have changed, or the positions of its scripts."""
        self.spoilt.update(self.readers_of_hidden)

    def others_changed(self, indices: list[int]) -> None:
        """Take note that other things are known of some other nodes."""
        for form in list(self._forms.values()):
            form.know()
        for index in indices:
            node = self.stand.name_of(index)
            readers = self.readers_of_others.get(index, {})
            for question in readers:
                question.view[node].__dict__.clear()
            self.spoilt.update(readers)

    def read_anew(self, names: Collection[str]) -> None:
        """Read fields of the node anew, as an event is undone that has changed them."""
        for name in names:
            self.stand.forget(name)
            for question in self.readers_of_fields.get(name, ()):
                question.own.pop(name, None)

    def settle(self) -> dict[JudgedProperty, JudgedAnswer]:
        """Work out all answers that have to be; they can be taken back until the next.

        Returns
        -------
        dict
            The properties that were asked, each with its answer before.
        """
        self._asked.clear()
        try:
            with self._series as series:
                series.run(self._settle, _MARK)
        except Diverged as error:
            self._give_up(error)
        asked: dict[JudgedProperty, JudgedAnswer] = {}
        for question, before in self._asked:
            if type(question) is JudgedProperty:
                asked.setdefault(question, before)
        return asked

    def take_back(self) -> None:
        """Have the answers again that were there before the last settling."""
        for question, before in reversed(self._asked):
            now, question.verdict = question.verdict, before
            if now is not before:
                question.tell(now)
        for question, _ in self._asked:
            if question.verdict is None:
                self.spoilt[question] = None
            else:
                self.spoilt.pop(question, None)

    def ask(self, question: JudgedQuestion) -> None:
        """Work out one answer."""
        before = question.verdict
        self.spoilt.pop(question, None)
        now: JudgedAnswer
        activity.guarding = True
        try:
            now = question.answer()
        except Timeless:  # nobody here knows the time of a run
            now = UNSEEN
        except Exception as error:
            self.errors.setdefault(question.name, said(error))
            now = FAILS
        question.verdict = now
        activity.guarding = False
        if activity.stop is not None:  # of what has been raised nothing is left
            activity.stop = None
        self._asked.append((question, before))
        if now is not before:
            question.tell(before)

    def leave(self, question: JudgedQuestion) -> None:
        """Forget a question that nobody asks any more."""
        self.spoilt.pop(question, None)
        for readers in self._readers():
            readers.pop(question, None)

    def _settle(self) -> None:
        while self.spoilt:
            self.ask(next(iter(self.spoilt)))

    def _give_up(self, error: Diverged) -> None:
        """Take for unseen, for good, what has not been answered and does not return."""
        self.errors.setdefault("a property", str(error))
        for question in list(self.spoilt):
            before, question.verdict = question.verdict, UNSEEN
            question.tell(before)
        self.spoilt.clear()

    def _readers(self) -> Iterator[dict[JudgedQuestion, None]]:
        yield from self.readers_of_fields.values()
        yield self.readers_of_hidden
        yield from self.readers_of_others.values()


_MARK = 2
