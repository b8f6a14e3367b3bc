"""Atoms of which some columns do not matter, as atoms without these columns.

A grounder writes ``_`` out by an atom of its own, and in every later step copies all of
them: a number of rules that is quadratic in the rounds (measured with clingo 5.8: twelve
million instead of 0.2 in 2,400 rounds of a broadcast, for one ``_`` in a limit that was
never switched on). Here each projection is a rule of its own round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worldline.dedalus.symbolic.words import applied

ANY = "_"


class Projections:
    """The projections that the rules of one part of a program use.

    Parameters
    ----------
    part
        A letter that tells its predicates from those of other parts: a part must not
        define again what another one did.
    """

    def __init__(self, part: str) -> None:
        self._part = part
        self._rules: dict[str, str] = {}

    def atom(self, predicate: str, arguments: Sequence[str]) -> str:
        """Return an atom that holds where one does with any value for each ``_``."""
        if ANY not in arguments:
            return applied(predicate, arguments)
        kept = "".join("0" if argument == ANY else "1" for argument in arguments)
        projected = f"{self._part}{kept}_{predicate}"
        if projected not in self._rules:
            # The round is the last argument of both, and one only.
            *columns, last = [f"X{n}" for n in range(len(arguments))]
            whole = [*columns, "t" if arguments[-1] == "t" else last]
            some = [
                column
                for column, argument in zip(whole, arguments, strict=True)
                if argument != ANY
            ]
            self._rules[projected] = (
                f"{applied(projected, some)}:-{applied(predicate, whole)}."
            )
        return applied(projected, [one for one in arguments if one != ANY])

    def rules(self) -> Iterator[str]:
        """Yield the rules of the part."""
        yield from self._rules.values()
