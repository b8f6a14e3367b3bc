"""Properties as one node can judge them, whose answers stand until what they read changes.

A property has an answer, and so has each element of a ``for_each`` form that it asks. An
answer is true, false, or unseen where it depends on what the node does not know. Each is
kept with what was read for it, so that an event asks again only those that read what it
has changed; and what was asked about an event that is undone is taken back.

An element that is given a node of which nothing is known is unseen without being asked.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any, Literal, Protocol, TypeAlias, final

from worldline.model.answers import seen_for
from worldline.model.data.identity import NodeId
from worldline.model.errors import Unseen
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.semantics.layout import Layout
from worldline.model.usercode.activity import activity
from worldline.model.usercode.user_functions import verdict
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.model.view import ColumnRead, View
from worldline.steer.checking.counts import CheckCounts, WhyUnseen
from worldline.steer.checking.standpoint import Standpoint


class Judges(Protocol):
    """The judge that has the questions, as far as they know it; see `judge`."""

    stand: Standpoint
    me: NodeId
    spoilt: dict[JudgedQuestion, None]
    counts: CheckCounts
    readers_of_fields: dict[str, dict[JudgedQuestion, None]]
    readers_of_hidden: dict[JudgedQuestion, None]
    readers_of_others: dict[int, dict[JudgedQuestion, None]]

    def read_field(self, question: JudgedQuestion, name: str) -> None:
        """Take note of who reads a field of the node."""

    def forget_calm(self) -> None:
        """Look up anew who can be asked in one go."""

    def form(self, function: Pure, arity: int) -> JudgedForm:
        """Return a form, by its function and the number of nodes that this is given."""

    def ask(self, question: JudgedQuestion) -> None:
        """Work out one answer."""

    def leave(self, question: JudgedQuestion) -> None:
        """Forget a question that nobody asks any more."""


class Failing(enum.Enum):
    """The class of the answer of what cannot be asked, as it raises something."""

    FAILS = "fails"

    # As for kinds of events: the hash of a member, by name, would be Python code.
    __hash__ = object.__hash__


FAILS = Failing.FAILS

JudgedAnswer: TypeAlias = StateVerdict | Literal[Failing.FAILS] | None
"""What is known of a question; None before it is asked."""


class JudgedQuestion(ABC):
    """A question about what a node knows, which its view reads.

    Attributes
    ----------
    verdict
        The answer when it was last asked; None before.
    own
        What stays in the view of the fields of the node itself.
    opens
        Whether it has asked what has an open answer, which is taken both ways.
    lacks
        What it has asked for of which nothing is known, where its answer is unseen.
    """

    is_partial = True
    opens = False
    lacks = ""

    def __init__(self, judge: Judges) -> None:
        self._judge, self._stand = judge, judge.stand
        self.verdict: JudgedAnswer = None
        self.view = View(judge.stand.system, self)
        # Which the view finds without a dict.
        self.view._shown_node, self.view._shown = judge.me, self.view[judge.me]
        self.own: dict[str, Any] = self.view._shown.__dict__

    @property
    @abstractmethod
    def function(self) -> Callable[..., Any]:
        """The user's function that answers it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called where it fails."""

    @abstractmethod
    def answer(self) -> StateVerdict:
        """Work out the answer."""

    def tell(self, before: JudgedAnswer) -> None:  # noqa: B027 -- there may be nobody
        """Let those know who depend on it that the answer is another one."""

    # -------------------------------------------------------------- as a view's reader

    def read(self, read: ColumnRead) -> Any:
        """Answer a read, and depend on it."""
        judge, stand = self._judge, self._stand
        if read.column < stand.first:
            what = "what is known of no node" if read.column <= Layout.PARTITION else ""
            raise stand.lacks(what or "a history")
        index, which = divmod(read.column - stand.first, 3)
        if which == 2:
            mail = f"what is under way to {stand.name_of(index)}"
            if read.what == "present":
                stand.lacking, stand.holds_in_part = mail, False
                self._open()
                return False
            raise stand.lacks(mail)
        if index != stand.me:
            judge.readers_of_others.setdefault(index, {})[self] = None
            return stand.of_other(index, read, which)
        if which:
            if read.what == "finished":  # a call that is going on may be the last
                raise stand.lacks("which calls are still to come")
            judge.readers_of_hidden[self] = None
            return stand.own_hidden(read)
        name = read.detail[0]
        judge.read_field(self, name)
        value = stand.own_field(read.detail)
        if len(read.detail) == 1:
            self.own[name] = value
        return value

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        """Answer for one element, where a form is not asked for as a whole."""
        return seen_for(function, view._apart(), nodes)

    def every(self, view: View, function: Pure, arity: int) -> bool:
        """Answer for a form; where that is open, as its view takes it."""
        form = self._judge.form(function, arity)
        form.askers[self] = None
        said = form.answer()
        if said is FAILS:
            raise self._stand.lacks("what fails")
        if type(said) is bool:
            return said
        stand = self._stand
        stand.lacking, stand.holds_in_part = form.lacking(), form.holds_in_part
        self._open()
        return view._open((function, arity))

    def _open(self) -> None:
        self.opens = True
        self._judge.forget_calm()


@final
class JudgedProperty(JudgedQuestion):
    """A property.

    Attributes
    ----------
    holds_in_part
        Whether it is unseen as a form that it asks is, which holds for some that are known.
    """

    holds_in_part = False

    def __init__(self, judge: Judges, prop: Property) -> None:
        super().__init__(judge)
        self.prop = prop

    @property
    def function(self) -> Callable[..., Any]:
        return self.prop.predicate

    @property
    def name(self) -> str:
        return self.prop.name

    def answer(self) -> StateVerdict:
        stand = self._stand
        self.lacks = stand.lacking = ""
        self.holds_in_part = stand.holds_in_part = False
        said = self.prop.answer(self.view)
        if type(said) is not bool:  # perhaps for another reason than before
            self.lacks, self.holds_in_part = stand.lacking, stand.holds_in_part
            self._judge.counts.lack(self._why())
        return said

    def _why(self) -> WhyUnseen:
        return WhyUnseen(self.name, self.lacks, self.holds_in_part)

    def tell(self, before: JudgedAnswer) -> None:
        if type(self.verdict) is bool:
            self._judge.counts.see(self.name)
        else:
            self._judge.counts.lack(self._why())


@final
class JudgedElement(JudgedQuestion):
    """An element of a ``for_each`` form.

    Attributes
    ----------
    nodes
        Those that its function is given.
    """

    def __init__(
        self, judge: Judges, form: JudgedForm, nodes: tuple[NodeId, ...]
    ) -> None:
        super().__init__(judge)
        self._form, self.nodes = form, nodes

    @property
    def function(self) -> Callable[..., Any]:
        return self._form.function.function

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def is_calm(self) -> bool:
        """Whether it is true, and asks nothing whose answer is open."""
        return self.verdict is True and not self.opens

    @property
    def may_say_nothing(self) -> bool:
        """Whether it agrees if its function returns nothing."""
        return self._form.asserts

    def answer(self) -> StateVerdict:
        # Done for each element of which something has changed, so with few calls.
        if not self.opens:
            function, stand = self._form.function.function, self._stand
            stand.lacking = ""
            try:
                held = function(self.view, *self.nodes)
            except AssertionError:
                held = False
            except Unseen:
                held = UNSEEN
            if activity.stop is not None:  # it may have swallowed that it is unseen
                if not isinstance(activity.stop, Unseen):
                    raise activity.stop
                activity.stop = None
                held = UNSEEN
            if not self.opens:
                if held is None and self._form.asserts:
                    return True
                if held is UNSEEN:
                    self.lacks = stand.lacking
                if held is True or held is False or held is UNSEEN:
                    return held
                held = verdict(held, function, f"{self.name}, asked for each element,")
                self._form.asserts = True  # or it would have been refused
                return held
        held = seen_for(self._form.function, self.view, self.nodes)
        self.lacks = self._stand.lacking
        return held

    def tell(self, before: JudgedAnswer) -> None:
        self._form.turn(before, self.verdict)


@final
class JudgedForm:
    """A ``for_each`` form: whether a function holds for all nodes, or pairs of them.

    Attributes
    ----------
    askers
        Who asked it.
    asserts
        Whether its function is known to assert, so that who returns nothing agrees.
    """

    def __init__(self, judge: Judges, function: Pure, arity: int) -> None:
        self.function = function
        self.askers: dict[JudgedQuestion, None] = {}
        self.asserts = False
        self._judge, self._arity = judge, arity
        self._elements: dict[tuple[int, ...], JudgedElement] = {}
        self._falses = self._unseens = self._failing = 0
        self._has_absent = False
        self.know()

    def answer(self) -> JudgedAnswer:
        """Return the answer for all elements, each of which is asked if it has to be."""
        for element in self._elements.values():
            if element in self._judge.spoilt:
                self._judge.ask(element)
        return self._said()

    @property
    def holds_in_part(self) -> bool:
        """Whether it holds for an element, and is false for none."""
        others = self._unseens + self._failing
        return not self._falses and len(self._elements) > others

    def lacking(self) -> str:
        """Return what is not known where the answer is unseen, in words."""
        stand = self._judge.stand
        if self._has_absent:
            others = set(range(len(stand.system.ids))) - {*stand.present}
            return f"{stand.name_of(min(others))}" if others else ""
        unseen = (o for o in self._elements.values() if o.verdict is UNSEEN)
        return next((one.lacks for one in unseen if one.lacks), "")

    def know(self) -> None:
        """Have an element for each of the nodes that are known by now, or pair of them."""
        judge, before, elements = self._judge, self._said(), self._elements
        known = set(combinations(judge.stand.present, self._arity))
        is_other = known != elements.keys()
        for nodes in elements.keys() - known:
            gone = elements.pop(nodes)
            self._count(gone.verdict, -1)
            judge.leave(gone)
        ids = judge.stand.system.ids
        for nodes in sorted(known - elements.keys()):
            made = JudgedElement(judge, self, tuple(ids[index] for index in nodes))
            elements[nodes] = made
            judge.spoilt[made] = None
        self._has_absent = len(known) < comb(len(ids), self._arity)
        after = self._said()
        if after is not before or (is_other and after is UNSEEN):  # for another reason
            self._spoil_askers()

    def turn(self, before: JudgedAnswer, now: JudgedAnswer) -> None:
        """Take note that an element has another answer."""
        said = self._said()
        self._count(before, -1)
        self._count(now, 1)
        if self._said() is not said:
            self._spoil_askers()

    def _count(self, verdict: JudgedAnswer, change: int) -> None:
        if verdict is False:
            self._falses += change
        elif verdict is UNSEEN:
            self._unseens += change
        elif verdict is FAILS:
            self._failing += change

    def _said(self) -> JudgedAnswer:
        if self._failing:
            return FAILS
        if self._falses:
            return False
        return UNSEEN if self._unseens or self._has_absent else True

    def _spoil_askers(self) -> None:
        for asker in self.askers:
            self._judge.spoilt[asker] = None
