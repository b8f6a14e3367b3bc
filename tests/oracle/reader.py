"""What properties see of an oracle's state."""

from __future__ import annotations

from typing import Any

from tests.oracle.networks import Parcel
from tests.oracle.state import State

import worldline as wl
from worldline.model.data.content import order_key
from worldline.model.data.values import freeze, thaw
from worldline.model.message import Envelope
from worldline.model.pure import Pure
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.view import ColumnRead


class StateReader:
    """Answers a view's questions from one state."""

    def __init__(self, system: wl.System, state: State) -> None:
        self.system, self.state = system, state

    def read(self, read: ColumnRead) -> Any:
        index = self.system.layout.columns[read.column].index
        if read.what == "history":
            return self.state.histories[index]
        if read.what == "verdict":
            decide = self.system.observers[index].decide
            return decide is None or decide(self.state.histories[index])
        if read.what in ("messages", "any"):
            return self.look_under_way(index, read)
        if read.what == "affords":
            return self.state.left[read.detail[0]] != 0
        node = self.state.nodes[index]
        if read.what == "status":
            return Status(node.status)
        if read.what == "finished":
            scripts = self.system.scripts[index]
            ends = [len(script.calls) for script in scripts]
            return node.positions == ends
        if read.what == "timers":
            found = [
                ((part, name, order_key(content)), PendingTimer(part, name, payload))
                for (part, name, content), (payload, _) in node.timers.items()
                if read.detail[0] in (None, name)
            ]
            return tuple(timer for _, timer in sorted(found, key=lambda pair: pair[0]))
        value = node.fields
        for name in read.detail:
            value = value.__dict__[name]
        return thaw(freeze(value))

    def look_under_way(self, index: int, read: ColumnRead) -> Any:
        *pure, kind, src = read.detail
        envelopes = [
            as_envelope(parcel)
            for parcel in self.state.wire.parcels(self.system.ids[index])
            if src in (None, parcel.src)
            and (kind is None or type(parcel.message) is kind)
        ]
        if read.what == "messages":
            return tuple(envelopes)
        return any(pure[0].function(envelope.message) for envelope in envelopes)

    def nested(
        self, view: wl.View, function: Pure, nodes: tuple[wl.NodeId, ...]
    ) -> bool:
        return bool(function.function(view, *nodes))


def as_envelope(parcel: Parcel) -> Envelope:
    return Envelope(parcel.src, parcel.part, parcel.message, parcel.key[3])
