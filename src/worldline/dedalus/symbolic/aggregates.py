"""Aggregates over values that may be there or not.

A rule with aggregates is split as in the paper (section 4.1.2): one predicate collects
the distinct values of each group, and further rules say what they come to.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.symbolic.words import applied, divided
from worldline.dedalus.syntax import Aggregate, Aggregator, Rule


def collected(number: int, position: int) -> str:
    """Return the predicate that collects the values of one aggregate of one rule."""
    return f"values{number}_{position}"


def results(rule: Rule, number: int, predicate: str) -> Iterator[str]:
    """Yield the rules that derive the head in round t from what was collected.

    Parameters
    ----------
    number
        Tells the rule's own predicates from those of other rules.
    predicate
        That of the head.
    """
    group: list[str] = []
    head: list[str] = []
    over: list[tuple[int, Aggregator]] = []
    for position, term in enumerate(rule.head.terms):
        if isinstance(term, Aggregate):
            over.append((position, term.aggregator))
            head.append(f"R{position}")
        else:
            group.append(f"G{position}")
            head.append(f"G{position}")
    body = []
    for position, aggregator in over:
        values = collected(number, position)
        body.append(applied(values, [*group, "_", "t"]))
        if aggregator in {Aggregator.SUM, Aggregator.AVG}:
            yield from _chain(values, group)
            body.append(applied(f"{aggregator}_{values}", [*group, f"R{position}"]))
        else:
            each = applied(values, [*group, "V", "t"])
            body.append(f"R{position}=#{aggregator}{{V:{each}}}")
    yield f"{applied(predicate, [*head, 't'])}:-{','.join(body)}."


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
    last = f"{at('upto', 'V', 'S', 'N')},not {at('below', 'V')}"
    head = applied(f"sum_{values}", [*group, "S"])
    yield f"{head}:-{last}."
    head = applied(f"avg_{values}", [*group, divided("S", "N")])
    yield f"{head}:-{last}."
