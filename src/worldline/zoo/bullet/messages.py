"""Messages between the nodes of Bullet'."""

from __future__ import annotations

import worldline as wl

BLOCK_BYTES = 16_384
"""Of the file in one block, on links of limited capacity."""


@wl.message
class PeerReq:
    """Be my sender: tell me what you have, and what you get."""


@wl.message
class PeerAck:
    """I am: these are my blocks."""

    blocks: frozenset[int]


@wl.message
class Diff:
    """I have got these blocks since I told you last."""

    blocks: frozenset[int]


@wl.message
class Request:
    """Send me this block."""

    block: int


@wl.message(size=BLOCK_BYTES)
class Block:
    """Here it is. What is in it makes no difference, and is left out."""

    block: int
