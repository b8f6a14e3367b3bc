"""The header of a journal: what a life of a node says of itself before it begins."""

from __future__ import annotations

from worldline._version import __version__
from worldline.deploy.journal_options import JournalOptions
from worldline.model.data.identity import NodeId
from worldline.model.system import System
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.lasting import lasting_words
from worldline.trace.journal.segments import VERSION, JournalHeader


def first_header(
    system: System,
    codec: Codec,
    node: NodeId,
    incarnation: int,
    options: JournalOptions,
) -> JournalHeader:
    """Return the header of the first segment of a life."""
    origin = system.origin
    return JournalHeader(
        version=VERSION,
        worldline=__version__,
        system=system.name,
        target=None if origin is None else origin.target,
        parameters={} if origin is None else dict(origin.parameters),
        digest=codec.digest.lines,
        fields=lasting_words(system.types[system.index[node]], codec),
        node=node.name,
        incarnation=incarnation,
        segment=0,
        run=options.run,
        seed=options.seed,
        source=None if origin is None else origin.source,
    )
