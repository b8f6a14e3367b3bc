"""Networks: what can happen to a message between its sender and its receiver.

`mailbox` says what a network must offer; `networks` is made of others, and each other
module is one network.
"""

from worldline.model.network.datagrams import datagrams
from worldline.model.network.mailbox import Capability, Mailbox, Network, permits
from worldline.model.network.message_set import message_set
from worldline.model.network.networks import (
    Networks,
    carrier,
    members_of,
    networks,
    number_of,
)
from worldline.model.network.recorded import Recorded, recorded
from worldline.model.network.streams import streams

__all__ = [
    "Capability",
    "Mailbox",
    "Network",
    "Networks",
    "Recorded",
    "carrier",
    "datagrams",
    "members_of",
    "message_set",
    "networks",
    "number_of",
    "permits",
    "recorded",
    "streams",
]
