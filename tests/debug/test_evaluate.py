"""Expressions over a view: what they can say, and what they cannot do."""

from __future__ import annotations

from typing import Any

import pytest
from tests.debug.opened import held

import worldline as wl
from worldline.debug.evaluate import Expressions


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        ("view[alice].tries", "2", 2),
        ("[view[n].holds for n in view.of(Client)]", "[False, False]", [False, False]),
        ("max(nodes)", "bob", {"$node": "bob"}),
        (
            "{n: view.is_up(n) for n in nodes}",
            "{server: True, alice: True, bob: True}",
            None,
        ),
        ("len(view.messages(Lock, dst=server))", "1", 1),
        (
            "view.messages()",
            "(Lock(ticket=20) from alice)",
            [{"src": "alice", "part": "", "message": {"$is": "Lock", "ticket": 20}}],
        ),
        (
            "{'all': list(view.messages())}",
            "{'all': [Lock(ticket=20) from alice]}",
            {
                "all": [
                    {
                        "src": "alice",
                        "part": "",
                        "message": {"$is": "Lock", "ticket": 20},
                    }
                ]
            },
        ),
        (
            "view.timers(alice)[0]",
            "again",
            {"part": "", "name": "again", "payload": None},
        ),
        (
            "view[alice]",
            "Client(server=server, holds=False, tries=2)",
            {"server": {"$node": "server"}, "holds": False, "tries": 2},
        ),
        ("Lock(3).ticket", "3", 3),
        ("Lock", "Lock", None),
        ("(x for x in nodes)", "<generator>", None),
        ("view.any_message(lambda m: m.ticket == 20, Lock)", "True", True),
        ("[y for x in [1, 2] if (y := x * 2) > 2]", "[4]", [4]),
        ("  'a; b' ", "'a; b'", "a; b"),
    ],
)
def test_values(expression: str, text: str, value: Any):
    found = held().evaluate(expression, 2)
    assert found.text == text
    if value is not None:
        assert found.value == value


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("1 +", "'1 +' is not a Python expression: invalid syntax"),
        ("x = 1", "is not a Python expression"),
        ("import os", "is not a Python expression"),
        ("open('/etc/passwd')", "raised NameError: name 'open' is not defined"),
        ("__import__('os')", "uses the private name '__import__'"),
        ("view._system", "uses the private name '_system'"),
        ("().__class__", "uses the private name '__class__'"),
        ("1 / 0", "the expression raised ZeroDivisionError: division by zero"),
        ("view[alice].hold", "Client.hold, which is no field"),
        ("view[alice].__dict__", "private name"),
        ("[].index('a\\nb')", "raised ValueError: 'a\\nb' is not in list"),
        ("(" * 300 + ")" * 300, "is not a Python expression"),
        ("a\0b", "is not a Python expression"),
    ],
)
def test_errors_are_one_line(expression: str, said: str):
    with pytest.raises(wl.UsageError) as caught:
        held().evaluate(expression, 2)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_that_is_changed_is_a_copy():
    session = held()
    assert session.evaluate("view[server].holders.add(alice)", 9).text == "None"
    assert session.evaluate("view[server].holders", 9).text == "{bob}"
    with pytest.raises(wl.UsageError, match="AttributeError"):
        session.evaluate("[0 for view[server].holders in [1]]", 9)
    assert session.evaluate("view[server].holders", 9).text == "{bob}"


@wl.message
class view:  # noqa: N801
    n: int = 0


@wl.node
class Namesake:
    @wl.on(view)
    def on_view(self, ctx: wl.Context, src: wl.NodeId, msg: view) -> None: ...


def test_the_view_wins_over_a_class_of_that_name():
    system = wl.System({node: Namesake() for node in wl.ids("Namesake", "b")})
    expressions = Expressions(system)
    session = held()
    there = session.timeline.at(0).view
    found = expressions.value(expressions.parse("view.nodes"), there)
    assert found.text == "(server, alice, bob)"
    found = expressions.value(expressions.parse("Namesake"), there)
    assert found.value == {"$node": "Namesake"}
