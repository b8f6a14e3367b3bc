"""What a program gives to a host: what is none of it is refused before anything begins."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.model.errors import UsageError

(A,) = wl.ids("a")


@wl.node
class Idle:
    pass


def system() -> wl.System:
    return wl.System({A: Idle()}, name="idle")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sync": "sometimes"}, "sync 'sometimes' is unknown; use 'durable', 'always'"),
        ({"on_failure": "restrat"}, "on_failure 'restrat' is unknown; use 'stop' or"),
        ({"on_log_failure": "go on"}, "on_log_failure 'go on' is unknown; use 'go-on'"),
        ({"contents": "names"}, "contents 'names' is unknown; use 'all' or 'ids'"),
        ({"events": "no"}, "events is 'no', which is neither True nor False"),
        ({"keep": "5"}, "keep='5' is "),
        ({"keep": 0}, "keep=0 is "),
        ({"every": -1}, "every=-1 is not a finite number of seconds"),
        ({"seed": "x"}, "seed='x' is "),
        (
            {"weather": "at 1s crash a"},
            "weather is 'at 1s crash a', which is no wl.Link",
        ),
        ({"companions": [1]}, "1 is no companion; give"),
        ({"nodes": "a"}, "nodes is 'a', which is one; give a list"),
        ({"nodes": A}, "nodes is a, which is one; give a list"),
    ],
)
def test_what_is_no_such_option_is_refused(given: dict[str, Any], said: str):
    with pytest.raises(UsageError) as caught:
        wl.Host(system(), **given)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("given", [system, "idle.py", Idle])
def test_what_is_no_system_is_refused(given: Any):
    with pytest.raises(UsageError, match=r"is no system; give a wl\.System"):
        wl.Host(given)


def test_what_makes_a_system_is_told_to_be_called():
    given: Any = system
    with pytest.raises(UsageError, match=r"call it: wl\.Host\(system\(\)\)"):
        wl.Host(given)
