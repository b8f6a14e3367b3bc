"""Symmetry reduction: of all rows that differ only in names, one is kept.

A group of *members* (nodes that are alike) can be permuted; what a row becomes is
known to the service, one value at a time. Two rows are in one *orbit* if a permutation
of members, group by group, turns one into the other. `Symmetry.canonical` returns the
same row for every row of an orbit; it depends on content alone. Members are numbered
through all groups, in order of declaration. Let *role* be ``(column)`` for a column
that no member owns, else ``(group, place)``, with place 0, 1, 2 for local, hidden and
inbox; columns of one role share their table. For each role and value two things are
remembered:

- the members that the value *mentions*, a bit each;
- its *outlines*: ``common``, a 64-bit content hash of the value with every member
  replaced by a word for its group, and, for each member ``m`` that it mentions, the
  same with ``m`` alone replaced by one word for *self*. Sets are sorted after the
  replacement. For a member that is not mentioned the outline is ``common``. Where a
  mailbox is a bag, a set or one queue per sender, its envelopes have outlines, and
  those of the mailbox are made of them as its content hash is made of theirs.

With ``mixed(hash, salt)``, the finaliser of fingerprints, all sums modulo 2**64, and
the salt ``s`` = the column for an unowned one, else
``width + 2 * (3 * group + place)``:

1. The *signature* of ``m`` is the sum, over its own columns, of
   ``mixed(outline(m), s + 1) - mixed(common, s)`` and, over all other columns whose
   value mentions ``m``, of ``mixed(outline(m), s) - mixed(common, s)``. It belongs to
   ``m`` whatever ``m`` is called. (What is the same for all members of a group is left
   out of the sum.)
2. Each group is sorted by signature: a stable insertion sort, which gives a list of
   exchanges of neighbours. An exchange of members ``i`` and ``i + 1`` maps every value
   that mentions either by the table ``exchanged[column's interner][i][value]``, and
   lets their columns change places.
3. Neighbours with equal signatures are *tied*. If no exchange of tied neighbours
   changes the row, as when their columns are alike and nothing tells them apart, it is
   the canonical one.
4. Else signatures are *refined*. The new signature of ``m`` is ``mixed(old(m), 0)``,
   plus ``mixed(share + old(k), 1)`` for each mention of another member ``k`` in a
   column of ``m``, plus ``mixed(share + old(k), 2)`` for each mention of ``m`` in a
   column of another member ``k``, where ``share`` is what that mention adds in step 1.
   If more signatures are distinct than before (over all groups), go on with step 2.
5. Else all rows that exchanges of tied neighbours lead to are listed, and the one with
   the least fingerprint is the canonical one.

Signatures only make the list short: were they all equal, the result would still be
canonical. Everything is looked up by integers: a `Trait` per column's role and value,
and per column's kind, pair of neighbours and value, the value with the two exchanged.
The compiled kernel does the same, with tables that are filled from here.

References
----------
C. N. Ip and D. L. Dill, "Better Verification through Symmetry", FMSD 9, 1996: search
over one state of each orbit. The order by signatures, with ties enumerated, is the
canonicalisation of scalarsets in Murphi (there: "sorting and enumerating"); the
refinement is that of graph canonisation (B. Weisfeiler and A. Leman, 1968).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple, Protocol, TypeAlias, final

from worldline.engine.interner import mixed
from worldline.engine.tables import Row, Tables

Member: TypeAlias = tuple[int, ...]
"""The columns of one member; those of all members in the same order."""

_MASK = (1 << 64) - 1


class Trait(NamedTuple):
    """A value's share in the signatures of members, where it stands.

    Attributes
    ----------
    mentions
        A bit for each member that the value mentions.
    own
        What it adds to the member whose column it stands in.
    shares
        For each member that it mentions: its number, what is added to it, and what
        is added besides if the column is its own.
    """

    mentions: int
    own: int
    shares: tuple[tuple[int, int, int], ...]


class Mentions(Protocol):
    """The service behind the tables of symmetry: it knows what values mention."""

    def outlines(self, column: int, value: int) -> tuple[int, dict[int, int]]:
        """Return the 64-bit outlines of a value.

        Returns
        -------
        tuple
            The outline of the value without any member told apart, and its outlines
            for the members that it mentions: each told apart from all the others.
        """

    def exchanged(self, column: int, value: int, member: int) -> int:
        """Return what a value becomes if a member and the next exchange names."""

    def item_outlines(self, column: int, item: Any) -> tuple[int, dict[int, int]]:
        """Return the outlines of an item of a collection.

        Those of the collection are its content hashes with these for its items
        (`worldline.engine.collections.content`).
        """

    def item_exchanged(self, column: int, item: Any, member: int) -> Any:
        """Return what an item becomes; that is what each of a collection does."""


@final
class Symmetry:
    """The permutations of a system's members, and what they make of rows.

    Parameters
    ----------
    tables, names
        What rows mean, and who works out what is not known yet.
    groups
        The members of each group.

    Attributes
    ----------
    names
        Who works out what is not known yet.
    members, ranges
        All members, numbered through all groups; the first of each group, and the
        number after its last.
    count
        How many members there are.
    owner, salts
        For each column, whose it is, -1 if nobody's; and a number for its role.
    neighbours
        The number of each member that has a next one in its group.
    """

    def __init__(
        self, tables: Tables, names: Mentions, groups: list[list[Member]]
    ) -> None:
        self._tables = tables
        self.names = names
        self.members = [member for group in groups for member in group]
        self.count = len(self.members)
        width = len(tables.interners)
        self.owner = [-1] * width
        self.salts = list(range(width))
        self.ranges: list[tuple[int, int]] = []
        first = 0
        for number, group in enumerate(groups):
            self.ranges.append((first, first + len(group)))
            for member, columns in enumerate(group, first):
                for place, column in enumerate(columns):
                    self.owner[column] = member
                    self.salts[column] = width + 2 * (len(columns) * number + place)
            first += len(group)
        # Columns whose values add the same, and those whose values are renamed alike.
        roles: dict[int, dict[int, Trait]] = defaultdict(dict)
        self._traits = [roles[salt] for salt in self.salts]
        shared: dict[int, list[dict[int, int]]] = {}
        for interner in tables.interners:
            shared.setdefault(id(interner), [{} for _ in range(self.count)])
        self._exchanged = [shared[id(interner)] for interner in tables.interners]
        self.neighbours = [
            member for first, end in self.ranges for member in range(first, end - 1)
        ]

    def canonical(self, row: Row) -> Row:
        """Return the row that stands for all that differ from `row` in names only."""
        signatures, speaking = self._signatures(row)
        while True:
            exchanges = self._sort(signatures)
            if exchanges:
                row, speaking = self._renamed(row, exchanges, speaking)
            tied = [n for n in self.neighbours if signatures[n] == signatures[n + 1]]
            if all(self._is_fixed(row, member, speaking) for member in tied):
                return row
            refined = self._refined(row, signatures, speaking)
            if len(set(refined)) == len(set(signatures)):
                return self._least(row, tied, speaking)
            signatures = refined

    def _sort(self, signatures: list[int]) -> list[int]:
        """Sort signatures, group by group; return the exchanges that do it."""
        exchanges: list[int] = []
        for first, end in self.ranges:
            for start in range(first + 1, end):
                at, signature = start, signatures[start]
                while at > first and signatures[at - 1] > signature:
                    at -= 1
                    exchanges.append(at)
                    signatures[at + 1] = signatures[at]
                signatures[at] = signature
        return exchanges

    def _refined(
        self, row: Row, signatures: list[int], speaking: list[int]
    ) -> list[int]:
        """Return signatures that take in those of the members one has to do with."""
        totals = [mixed(signature, 0) for signature in signatures]
        for column in speaking:
            mine = self.owner[column]
            if mine < 0:
                continue
            trait = self.trait(column, row[column])
            for member, share, _ in trait.shares:
                if member != mine:
                    label = share + signatures[member] & _MASK
                    totals[mine] += mixed(label, 1)
                    label = share + signatures[mine] & _MASK
                    totals[member] += mixed(label, 2)
        return [total & _MASK for total in totals]

    def renamed(self, row: Row, exchanges: list[int]) -> Row:
        """Return what a row becomes if members exchange names, one after another.

        Parameters
        ----------
        exchanges
            Members; each exchanges names with the next of its group.
        """
        return self._renamed(row, exchanges, self._signatures(row)[1])[0]

    def renamed_like(
        self, row: Row, renaming: tuple[Row, Row], exchanges: list[int]
    ) -> Row:
        """Return the same as `renamed`, given a similar row and what it becomes."""
        before, after = renaming
        renamed, moved = after.copy(), self._moved(exchanges)
        for column, value in enumerate(row):
            if value != before[column]:
                value = self._followed(column, value, exchanges)
                renamed[moved.get(column, column)] = value
        return renamed

    def _moved(self, exchanges: list[int]) -> dict[int, int]:
        """Return which columns change places."""
        order = list(range(self.count))
        for member in exchanges:
            order[member : member + 2] = order[member + 1], order[member]
        return {
            old: new
            for place, member in enumerate(order)
            if place != member
            for old, new in zip(self.members[member], self.members[place], strict=True)
        }

    def _renamed(
        self, row: Row, exchanges: list[int], speaking: list[int]
    ) -> tuple[Row, list[int]]:
        """Return a renamed row, and which of its columns mention members."""
        before, moved = row.copy(), self._moved(exchanges)
        for column in speaking:
            before[column] = self._followed(column, row[column], exchanges)
        renamed = before.copy()
        for old, new in moved.items():
            renamed[new] = before[old]
        return renamed, [moved.get(column, column) for column in speaking]

    def _followed(self, column: int, value: int, exchanges: list[int]) -> int:
        """Return what a value becomes by exchanges, one after another."""
        mentions, tables = self.trait(column, value).mentions, self._exchanged[column]
        for member in exchanges:
            mentioned = mentions >> member & 3
            if mentioned:
                after = tables[member].get(value)
                if after is None:
                    after = self.renamed_value(column, value, member)
                value = after
                if mentioned < 3:  # only one of the two was mentioned
                    mentions ^= 3 << member
        return value

    def _is_fixed(self, row: Row, member: int, speaking: list[int]) -> bool:
        """Say whether exchanging a member and the next leaves a row as it is."""
        for one, other in zip(
            self.members[member], self.members[member + 1], strict=True
        ):
            if self.exchanged(one, row[one], member) != row[other]:
                return False
        own = (member, member + 1)
        return all(
            self.owner[column] in own
            or self.exchanged(column, row[column], member) == row[column]
            for column in speaking
        )

    def _least(self, row: Row, tied: list[int], speaking: list[int]) -> Row:
        """Return the least of all rows that exchanges of tied members lead to."""
        rows = {tuple(row)}
        pending = [(row, speaking)]
        while pending:
            current, its = pending.pop()
            for member in tied:
                other, speaking = self._renamed(current, [member], its)
                key = tuple(other)
                if key not in rows:
                    rows.add(key)
                    pending.append((other, speaking))
        return min(map(list, rows), key=self._tables.fingerprint)

    def _signatures(self, row: Row) -> tuple[list[int], list[int]]:
        """Return the signature of each member, and the columns that mention any."""
        totals, speaking = [0] * self.count, []
        traits, owner = self._traits, self.owner
        for column, value in enumerate(row):
            trait = traits[column].get(value)
            if trait is None:
                trait = self.trait(column, value)
            mentions, own, shares = trait
            mine = owner[column]
            if mine >= 0:
                totals[mine] += own
            if mentions:
                speaking.append(column)
                for member, share, besides in shares:
                    totals[member] += share if member != mine else besides
        return [total & _MASK for total in totals], speaking

    def trait(self, column: int, value: int) -> Trait:
        """Return what a value adds to signatures in a column."""
        cached = self._traits[column].get(value)
        if cached is not None:
            return cached
        common, outlines = self.names.outlines(column, value)
        salt = self.salts[column]
        plain = mixed(common, salt)
        own = mixed(common, salt + 1)
        shares = tuple(
            (
                member,
                (mixed(outline, salt) - plain) & _MASK,
                (mixed(outline, salt + 1) - own) & _MASK,
            )
            for member, outline in sorted(outlines.items())
        )
        mentions = sum(1 << member for member in outlines)
        trait = Trait(mentions, (own - plain) & _MASK, shares)
        self._traits[column][value] = trait
        return trait

    def exchanged(self, column: int, value: int, member: int) -> int:
        """Return what a value becomes if a member and the next exchange names."""
        if self.trait(column, value).mentions & (3 << member):
            return self.renamed_value(column, value, member)
        return value

    def renamed_value(self, column: int, value: int, member: int) -> int:
        """Do the same for a value that mentions either."""
        exchanged = self._exchanged[column][member]
        after = exchanged.get(value)
        if after is None:
            after = exchanged[value] = self.names.exchanged(column, value, member)
            exchanged[after] = value
        return after
