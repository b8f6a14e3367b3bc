"""Aggregates over values that may be there or not.

A rule with aggregates is split as in the paper (section 4.1.2): one predicate collects
the distinct values of each group, and further rules say what they come to.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.symbolic.numbers import LARGEST
from worldline.dedalus.symbolic.words import Words, applied, divided
from worldline.dedalus.syntax import Aggregate, Aggregator, Rule, Term

_ADDED = {Aggregator.SUM, Aggregator.AVG}


class Aggregation:
    """The aggregates of one rule: what is collected, and what it comes to.

    Parameters
    ----------
    rule, number
        The rule, and what tells its predicates from those of other rules.
    place
        The sender, for ``@async``: what two nodes send is never put together.
    """

    def __init__(self, rule: Rule, number: int, place: Term | None) -> None:
        self._terms = rule.head.terms
        self._place = [] if place is None else [place]
        self._number = number

    def collected(self, words: Words) -> Iterator[str]:
        """Yield the heads that collect values in round t."""
        plain = [t for t in self._terms if not isinstance(t, Aggregate)]
        group = words.terms([*self._place, *plain])
        for position, term in enumerate(self._terms):
            if isinstance(term, Aggregate):
                each = words.variable(term.of.name)
                yield applied(self._values(position), [*group, each, "t"])

    def results(self) -> Iterator[str]:
        """Yield rules that the results need."""
        for position, term in enumerate(self._terms):
            if isinstance(term, Aggregate):
                group, values = self._group(), self._values(position)
                each = applied(values, [*group, "V", "t"])
                yield f"{applied(f'some_{values}', [*group, 't'])}:-{each}."
            if isinstance(term, Aggregate) and term.aggregator in _ADDED:
                yield from _chain(self._values(position), self._group())

    def body(self) -> Iterator[str]:
        """Yield what binds the variables ``C0``, ``C1``... of the columns of the head.

        The sender, if there is one, is ``P``.
        """
        group = self._group()
        for position, term in enumerate(self._terms):
            if isinstance(term, Aggregate):
                values, result = self._values(position), f"C{position}"
                yield applied(f"some_{values}", [*group, "t"])
                if term.aggregator in _ADDED:
                    added = f"{term.aggregator}_{values}"
                    yield applied(added, [*group, result, "t"])
                else:
                    each = applied(values, [*group, "V", "t"])
                    yield f"{result}=#{term.aggregator}{{V:{each}}}"

    def _group(self) -> list[str]:
        plain = [n for n, t in enumerate(self._terms) if not isinstance(t, Aggregate)]
        return [*("P" for _ in self._place), *(f"C{n}" for n in plain)]

    def _values(self, position: int) -> str:
        return f"values{self._number}_{position}"


def _chain(values: str, group: list[str]) -> Iterator[str]:
    """Yield rules that add the values of a group up, from the least to the greatest.

    An assignment ``R = #sum{...}`` would be one ground rule for every subset of the
    values, 2^16 for sixteen; the chain has one for every sum that may come about.
    """

    def at(name: str, *arguments: str) -> str:
        return applied(f"{name}_{values}", [*group, *arguments, "t"])

    def one(variable: str) -> str:
        return applied(values, [*group, variable, "t"])

    yield f"{at('above', 'V')}:-{one('V')},{one('W')},W<V."
    yield f"{at('below', 'V')}:-{one('V')},{one('W')},V<W."
    yield f"{at('between', 'V', 'W')}:-{one('V')},{one('U')},{one('W')},V<U,U<W."
    yield f"{at('upto', 'V', 'V', '1')}:-{one('V')},not {at('above', 'V')}."
    yield (
        f"{at('upto', 'W', 'S+W', 'N+1')}:-{at('upto', 'V', 'S', 'N')},"
        f"{one('W')},V<W,not {at('between', 'V', 'W')}."
    )
    yield f"huge:-{at('upto', 'V', 'S', 'N')},|S|>{LARGEST}."
    last = f"{at('upto', 'V', 'S', 'N')},not {at('below', 'V')}"
    yield f"{at('sum', 'S')}:-{last}."
    yield f"{at('avg', divided('S', 'N'))}:-{last}."
