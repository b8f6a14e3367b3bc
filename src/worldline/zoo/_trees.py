"""The common ground of the zoo's trees."""

from __future__ import annotations

import worldline as wl


def loop_in(view: wl.View) -> str | None:
    """Return parents that do not lead up: to the root, its own parent, or a newcomer."""
    for node in view:
        seen = [node]
        papa = view[node].papa
        while papa is not None and not (papa == seen[-1] == view[node].root):
            if papa in seen:
                return " -> ".join(map(str, [*seen, papa]))
            seen.append(papa)
            papa = view[papa].papa
    return None
