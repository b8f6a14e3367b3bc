"""What the trees of the zoo have in common."""

from __future__ import annotations

import worldline as wl


def parents_lead_up(view: wl.View) -> bool:
    """Assert that parents lead to the root, which is its own parent, or to a newcomer."""
    for node in view:
        seen = [node]
        papa = view[node].papa
        while papa is not None and not (papa == seen[-1] == view[node].root):
            path = " -> ".join(map(str, [*seen, papa]))
            assert papa not in seen, f"parent pointers form a loop: {path}"
            seen.append(papa)
            papa = view[papa].papa
    return True
