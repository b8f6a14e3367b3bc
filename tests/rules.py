"""Random predicates over the machines of `tests.search.test_random_systems`.

A rule is nested tuples, so that a form can hold one as a default of its parameters. An
index means a node of the element that is asked, or, outside of forms, of the system.
"""

from __future__ import annotations

from random import Random
from typing import Any, TypeAlias

from tests.search.test_random_systems import Machine, Word

import worldline as wl

Rule: TypeAlias = tuple[Any, ...]

HISTORY = "words"


def said(view: wl.View, rule: Rule, nodes: tuple[wl.NodeId, ...]) -> bool:
    """Say whether a rule is true in a state, for some nodes."""
    what, *parts = rule

    def node(at: int | None) -> Any:
        return None if at is None else nodes[at % len(nodes)]

    if what == "mode":
        return bool(view[node(parts[0])].mode == parts[1])
    if what == "marks":
        return bool(len(view[node(parts[0])].marks) > parts[1])
    if what == "up":
        return view.is_up(nodes[parts[0] % len(nodes)])
    if what == "timers":
        return bool(view.timers(node(parts[0])))
    if what == "messages":
        src, dst = parts
        return bool(view.messages(Word, src=node(src), dst=node(dst)))
    if what == "any":
        number, src, dst = parts
        return view.any_message(
            lambda message, n=number: bool(message.envelope == n),  # type: ignore[misc]
            Word,
            src=node(src),
            dst=node(dst),
        )
    if what == "history":
        return bool(view.history(HISTORY) > parts[0])
    if what == "each":
        return view.for_each_node(
            lambda view, one, rule=parts[0]: said(view, rule, (one,))  # type: ignore[misc]
        )
    if what == "pairs":
        return view.for_each_pair(
            lambda view, a, b, rule=parts[0]: said(view, rule, (a, b))  # type: ignore[misc]
        )
    return _joined(view, rule, nodes)


def _joined(view: wl.View, rule: Rule, nodes: tuple[wl.NodeId, ...]) -> bool:
    what, first, *rest = rule
    if what == "not":
        return not said(view, first, nodes)
    if what == "and":
        return said(view, first, nodes) and said(view, rest[0], nodes)
    if what == "or":
        return said(view, first, nodes) or said(view, rest[0], nodes)
    if what == "swallow":
        try:
            return said(view, first, nodes)
        except Exception:
            return True
    assert what == "assert"
    assert said(view, first, nodes), "it is false"
    return True


def random_rule(rng: Random, depth: int) -> Rule:
    """Draw a rule."""
    if depth == 0 or rng.random() < 0.15:
        return _leaf(rng)
    what = rng.choice(
        ["not", "and", "or", "each", "each", "pairs", "not", "swallow", "assert"]
    )
    if what in ("and", "or"):
        return (what, random_rule(rng, depth - 1), random_rule(rng, depth - 1))
    return (what, random_rule(rng, depth - 1))


def _leaf(rng: Random) -> Rule:
    end = rng.choice([0, 1, 2, None])
    other = rng.choice([0, 1, 2, None])
    return rng.choice(
        [
            ("mode", rng.randrange(3), rng.randrange(3)),
            ("mode", rng.randrange(3), rng.randrange(3)),
            ("marks", rng.randrange(3), rng.randrange(2)),
            ("up", rng.randrange(3)),
            ("timers", rng.randrange(3)),
            ("messages", end, other),
            ("any", rng.randrange(2), end, other),
            ("history", rng.randrange(3)),
        ]
    )


def property_of(rule: Rule, number: int) -> wl.Property:
    """Return a rule over all nodes as a property."""

    def holds(view: wl.View) -> bool:
        return said(view, rule, view.nodes)

    holds.__name__ = f"rule_{number}"
    return wl.safety(holds)


def _projected(step: Any) -> int | None:
    return 1 if step.event.kind.value == "deliver" else None


def words() -> wl.Observer:
    """Return an observer that counts deliveries, up to three."""
    return wl.Observer(HISTORY, 0, _projected, lambda count, one: min(count + one, 3))


__all__ = ["HISTORY", "Machine", "Rule", "property_of", "random_rule", "said", "words"]
