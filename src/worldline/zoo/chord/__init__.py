"""Chord."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.chord.properties import (
    alone_on_both_sides,
    find_queue_is_bounded,
    predecessor_is_nearest,
)
from worldline.zoo.chord.protocol import Chord
from worldline.zoo.chord.ring import key_of, nodes
from worldline.zoo.chord.starts import BITS, STARTS

SWITCHES = (
    *[f"cb{number}" for number in range(1, 4)],
    *[f"wids{number}" for number in range(1, 6)],
)


def system(
    *,
    size: int = 3,
    bits: int = 4,
    keep: int = 2,
    contacts: int = 1,
    fingers: bool = True,
    start: str = "",
    bugs: tuple[str, ...] = (),
    resets: int = 0,
    connection_errors: int = 0,
) -> wl.System:
    names = nodes(size, bits)
    known = names[:contacts]
    prologue = []
    if start:
        begin = STARTS[start]
        bits, keep, fingers = BITS, begin.keep, False
        names = wl.ids(*[f"n{key}" for key in begin.keys.values()])
        by_name = dict(zip(begin.keys, names, strict=True))
        known = tuple(by_name[n] for n in begin.contacts)
        prologue = begin.prologue(by_name)
    return wl.System(
        {
            node: Chord(
                node,
                key_of(node),
                bits,
                keep,
                frozenset(bugs),
                founds=node == names[0],
                fingers=[None] * bits if fingers else [],
            )
            for node in names
        },
        network=wl.streams(),
        workload=[wl.script(node, [wl.invoke(Chord.join, known)]) for node in names],
        faults=wl.Faults(resets=resets, connection_errors=connection_errors),
        properties=[alone_on_both_sides, predecessor_is_nearest, find_queue_is_bounded],
        prologue=prologue,
        name="chord",
    )
