"""The answers of one node to all that it is asked, kept and asked again as it changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, final

from worldline.model.errors import ModelError, Timeless
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.places import enters
from worldline.model.usercode.running import Series, cause, said
from worldline.model.usercode.user_functions import defined_at
from worldline.model.verdicts import UNSEEN
from worldline.steer.checking.agreeing import MARK, Agree, Concerned, agreement
from worldline.steer.checking.calm import asked, calm_elements
from worldline.steer.checking.counts import CheckCounts
from worldline.steer.checking.questions import (
    FAILS,
    JudgedAnswer,
    JudgedElement,
    JudgedForm,
    JudgedProperty,
    JudgedQuestion,
)
from worldline.steer.checking.standpoint import Standpoint
from worldline.worlds.beside_report import NO_CLOCK

NO_TIME = f"asks for {NO_CLOCK}, which nobody knows beside a node: it is unseen there"
"""Why a property is of no use there, behind its name."""


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
    counts
        Those of the node: which properties are unseen.
    errors
        How what was asked has failed, by its name; it is unseen then.
    stuck
        The code that did not return, here or in another life, and is asked no more.
    again
        By fields, what may be asked instead of all else where the next event writes them;
        empty once anybody else reads any, or says anything else.
    """

    def __init__(
        self,
        stand: Standpoint,
        properties: list[Property],
        counts: CheckCounts,
        errors: dict[str, str],
        stuck: set[Any],
    ) -> None:
        self.stand, self.me = stand, stand.name_of(stand.me)
        self.spoilt: dict[JudgedQuestion, None] = {}
        self.counts = counts
        counts.begin()
        self.errors, self.stuck = errors, stuck
        self.readers_of_fields: dict[str, dict[JudgedQuestion, None]] = {}
        self.readers_of_hidden: dict[JudgedQuestion, None] = {}
        self.readers_of_others: dict[int, dict[JudgedQuestion, None]] = {}
        self._forms: dict[tuple[Pure, int], JudgedForm] = {}
        self._asked: list[tuple[JudgedQuestion, JudgedAnswer]] = []
        # As `again`.
        self._calm: dict[Collection[str], Agree | None] = {}
        self.again: dict[Collection[str], Agree] = {}
        self._series = Series()
        self.wholes = [JudgedProperty(self, prop) for prop in properties]
        self.spoilt.update(dict.fromkeys(self.wholes))

    def form(self, function: Pure, arity: int) -> JudgedForm:
        """Return a form, by its function and the number of nodes that this is given."""
        form = self._forms.get((function, arity))
        if form is None:
            form = self._forms[function, arity] = JudgedForm(self, function, arity)
        return form

    def read_field(self, question: JudgedQuestion, name: str) -> None:
        """Take note of who reads a field of the node."""
        readers = self.readers_of_fields.setdefault(name, {})
        if question not in readers:
            readers[question] = None
            self.forget_calm()

    def forget_calm(self) -> None:
        """Look up anew who can be asked in one go."""
        self._calm.clear()
        self.again.clear()

    def stays_true(self, names: Collection[str], within: Series | None = None) -> bool:
        """Say whether all that reads some fields was asked, and is as true as before.

        That is counted. Otherwise all is as after `fields_changed`.

        Parameters
        ----------
        within
            A series that was entered already; None if none was.
        """
        agree = None if self.spoilt or self.stuck else self._agreement(names)
        if agree is None:
            self.fields_changed(names)
            return False
        if within is not None:
            return agree(within)
        with self._series as series:
            return agree(series)

    def agree_again(self, names: Collection[str], agreed: Callable[[], None]) -> None:
        """Have `again` what asks all that reads some fields, which has just agreed.

        Parameters
        ----------
        agreed
            Is told whenever it does.
        """
        if names not in self.again:
            agree = self._agreement_of(names, agreed)
            assert agree is not None
            self.again[names] = agree

    def _agreement(self, names: Collection[str]) -> Agree | None:
        """Return what asks all that reads some fields; None if that is not all calm."""
        if type(names) is not tuple:
            return None
        if names not in self._calm:
            self._calm[names] = self._agreement_of(names, lambda: None)
        return self._calm[names]

    def _agreement_of(
        self, names: Collection[str], agreed: Callable[[], None]
    ) -> Agree | None:
        stand = self.stand
        calm = calm_elements(stand, self.readers_of_fields, names)
        if calm is None:
            return None
        elements, fields = calm

        def failed(which: int, error: BaseException) -> None:
            if isinstance(
                activity.stop, Diverged
            ):  # or it is asked again, and fails again
                self._note(elements[min(which, len(elements) - 1)], error)

        def doubt() -> None:
            self.spoilt.update(dict.fromkeys(elements))

        return agreement(
            stand.shown,
            stand.node.__dict__,
            fields,
            [asked(element) for element in elements],
            Concerned(
                failed, doubt, agreed, self._calm, self.spoilt, self.stuck, self.counts
            ),
        )

    def fields_changed(self, names: Collection[str]) -> None:
        """Take note that fields of the node have changed, as far as anybody reads them."""
        stand, readers_of = self.stand, self.readers_of_fields
        for name in names:
            readers = readers_of.get(name)
            if not readers:
                stand.forget(name)
            elif name in stand.parts:
                stand.forget(name)
                for question in readers:
                    question.own.pop(name, None)
                self.spoilt.update(readers)
            else:
                value = stand.read_anew(name)
                for question in readers:
                    question.own[name] = value
                    self.spoilt[question] = None

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

    def settle(
        self, within: Series | None = None
    ) -> list[tuple[JudgedProperty, JudgedAnswer]]:
        """Work out all answers that have to be; they can be taken back until the next.

        Parameters
        ----------
        within
            A series that was entered already; None if none was.

        Returns
        -------
        list of tuple
            The properties that were asked, each with its answer before.
        """
        self._asked.clear()
        activity.dispensable = True
        try:
            if within is None:
                with self._series as series:
                    self._settle(series)
            else:
                self._settle(within)
        except Diverged as error:
            self._give_up(error)
        finally:
            activity.dispensable = False
        if len(self._asked) == 1 and type(self._asked[0][0]) is JudgedElement:
            return _NOBODY  # as mostly: an element says what it said before
        asked: dict[JudgedProperty, JudgedAnswer] = {}
        for question, before in self._asked:
            if type(question) is JudgedProperty:
                asked.setdefault(question, before)
        return [*asked.items()]

    def take_back(self) -> None:
        """Have the answers again that were there before the last settling."""
        for question, before in reversed(self._asked):
            now, question.verdict = question.verdict, before
            if now is not before:
                self.forget_calm()
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
            if self.stuck and _code_of(question) in self.stuck:
                now = FAILS
            else:
                now = question.answer()
        except Timeless as error:  # nobody here knows the time of a run
            self._note(question, error)
            question.lacks, now = NO_CLOCK, UNSEEN
        except (Exception, Diverged) as error:
            self._note(question, error)
            now = FAILS
        question.verdict = now
        activity.guarding = False
        if activity.stop is not None:  # of what has been raised nothing is left
            activity.stop = None
        self._asked.append((question, before))
        if now is not before:
            self.forget_calm()
            question.tell(before)

    def leave(self, question: JudgedQuestion) -> None:
        """Forget a question that nobody asks any more."""
        self.spoilt.pop(question, None)
        self.forget_calm()
        for readers in self._readers():
            readers.pop(question, None)

    def _note(self, question: JudgedQuestion, error: BaseException) -> None:
        """Take note of how a question failed; what did not return is asked no more."""
        name, stop = question.name, activity.stop
        what = f"{name}{defined_at(question.function)}"
        if isinstance(stop, Diverged):
            self.stuck.add(_code_of(question))
            self.errors[name] = f"{what} did not return ({stop}): it is judged no more"
            self._series.go_on(MARK)  # the time that is left is that of others
        elif isinstance(error, Timeless):
            self.errors.setdefault(name, f"{name} {NO_TIME}")
        elif isinstance(error, ModelError):
            self.errors.setdefault(name, f"{error.what}: it is unseen then")
        else:
            why = f"{what} raised {said(error)}: it is unseen then"
            self.errors.setdefault(name, why)

    @enters
    def _settle(self, series: Series) -> None:
        # As `Series.run` would, with few calls: for nearly each event one element is asked.
        spoilt = self.spoilt
        series.enter(MARK)
        try:
            if activity.stop is not None:
                raise activity.stop
            while spoilt:
                self.ask(next(iter(spoilt)))
        except BaseException as error:
            raise cause(error) from None
        finally:
            series.leave()

    def _give_up(self, error: Diverged) -> None:
        """Take for unseen, for good, what has not been answered and does not return."""
        self.errors.setdefault("a property", str(error))
        for question in list(self.spoilt):
            before, question.verdict = question.verdict, UNSEEN
            self.forget_calm()
            question.tell(before)
        self.spoilt.clear()

    def _readers(self) -> Iterator[dict[JudgedQuestion, None]]:
        yield from self.readers_of_fields.values()
        yield self.readers_of_hidden
        yield from self.readers_of_others.values()


def _code_of(question: JudgedQuestion) -> Any:
    """Return what tells the function of a question from others; a lambda is made anew."""
    return getattr(question.function, "__code__", question.function)


_NOBODY: list[tuple[JudgedProperty, JudgedAnswer]] = []
