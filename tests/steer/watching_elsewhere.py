"""Predicates that properties reach by other names than their own."""

from typing import Any

import worldline as wl


def total_of(node: Any) -> Any:
    return node.total


class Tool:
    @staticmethod
    def small(view: wl.View) -> bool:
        return all(view[node].total < 3 for node in view.nodes)


class Asked:
    def __call__(self, view: wl.View) -> bool:
        return all(view[node].total < 3 for node in view.nodes)
