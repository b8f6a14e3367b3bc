"""Networks: what can happen to a message between its sender and its receiver.

`mailbox` says what a network must offer; each other module is one network.
"""

from worldline.model.network.datagrams import datagrams
from worldline.model.network.mailbox import Capability, Mailbox, Network, permits
from worldline.model.network.message_set import message_set
from worldline.model.network.streams import streams

__all__ = [
    "Capability",
    "Mailbox",
    "Network",
    "datagrams",
    "message_set",
    "permits",
    "streams",
]
