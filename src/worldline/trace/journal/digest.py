"""The digest: what two processes must have alike to understand each other's messages.

Never the source: two versions of a program may talk, as long as the names of the nodes,
and what the messages look like on the wire, are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import final

from worldline.model.fields import is_node
from worldline.trace.journal.plans import Plans, words_of
from worldline.trace.journal.vocabulary import Vocabulary

PROTOCOL = 1
"""The version of frames, hellos and records."""


@final
@dataclass(frozen=True, slots=True)
class Digest:
    """A description, line by line, and its hash.

    Attributes
    ----------
    lines
        The protocol's version, the nodes, the parts, each class and its fields.
    raw
        Their BLAKE2b-128.
    """

    lines: tuple[str, ...]
    raw: bytes

    @classmethod
    def of(cls, vocabulary: Vocabulary, plans: Plans) -> Digest:
        """Return the digest of a system."""
        lines = (
            f"protocol {PROTOCOL}",
            *(f"node {node.name}" for node in vocabulary.nodes),
            *(f"part {part}" for part in vocabulary.parts if part),
            *(
                words_of(plans, record)
                for record in vocabulary.records
                if not is_node(record)
            ),
            *(
                f"enum {kind.__qualname__}({', '.join(kind.__members__)})"
                for kind in vocabulary.enums
            ),
        )
        text = "\n".join(lines).encode("utf-8", "surrogatepass")
        return cls(lines, hashlib.blake2b(text, digest_size=16).digest())

    def difference(self, other: Sequence[str]) -> str | None:
        """Return the first line in which another description differs, in words."""
        for ours, theirs in zip_longest(self.lines, other):
            if ours != theirs:
                return f"here {ours or 'nothing'}, there {theirs or 'nothing'}"
        return None
