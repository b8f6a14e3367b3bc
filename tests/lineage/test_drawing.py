from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.lineage.broadcast import Broadcast

from worldline.injection.scope import NO_FAULTS, Crash, Delay, FaultSet, Loss, Scope
from worldline.injection.subject import SentMessage
from worldline.lineage.explaining.drawing import lineage_drawing
from worldline.lineage.explaining.fates import MessageEnd, fate
from worldline.lineage.explaining.graph import Arc, Lineage, Point
from worldline.lineage.explaining.picture import LineagePicture, folded
from worldline.lineage.explaining.spacetime import spacetime
from worldline.lineage.explaining.svg import WIDEST, alone, shortened

ABC = ("a", "b", "c")
GIVEN, SENT, OTHER = Point(1, "a", "x(a)"), Point(2, "b", "x(b)"), Point(3, "c", "x(c)")
GOAL = Point(4, "c", 'post("<&>")')
DIRECT = Arc(GIVEN, OTHER, 1, is_message=True)
FIRST, SECOND = (
    Arc(GIVEN, SENT, 2, is_message=True),
    Arc(SENT, OTHER, 3, is_message=True),
)
LAST = Arc(OTHER, GOAL, 4)
ABSENT = Arc(Point(4, "c", "not y(c)"), GOAL, 4, is_absent=True)
LINEAGE = Lineage(GOAL, (DIRECT, FIRST, SECOND, LAST, ABSENT))


def drawn(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter())


def kinds(svg: str) -> list[str]:
    return [element.attrib.get("class", "") for element in drawn(svg)]


def texts(svg: str) -> list[str]:
    return [e.text for e in drawn(svg) if e.tag.endswith("}text") and e.text]


def names(svg: str) -> list[str | None]:
    return [e.text for e in drawn(svg) if "name" in e.attrib.get("class", "")]


def of_broadcast(scope: Scope, faults: FaultSet, kind: str = "retry") -> str:
    subject = Broadcast(scope, kind)  # type: ignore[arg-type]
    return spacetime(subject.run(faults), scope)


def lineage(made: Lineage = LINEAGE, lacking: tuple[Point, ...] = ()) -> str:
    return lineage_drawing([made], Scope(ABC, 4), lacking)


# ----------------------------------------------------------------- space-time diagrams


def test_what_is_lost_is_drawn_unlike_what_a_crash_silences():
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    svg = of_broadcast(Scope(ABC, eot=4, eff=2, crashes=1), faults)
    found = kinds(svg)
    assert found.count("message") == 1
    assert found.count("message lost") == found.count("cross") == 1
    assert found.count("message unsent") == 4


def test_a_crash_is_drawn_once_with_a_broken_line_below():
    svg = of_broadcast(Scope(ABC, eot=5, eff=2, crashes=1), frozenset({Crash(2, "a")}))
    found = kinds(svg)
    assert (found.count("crash"), found.count("lane dead")) == (1, 1)
    assert texts(svg).count("CRASHED") == 1
    assert found.count("event") == 5 + 5 + 1


def test_a_node_that_starts_again_has_a_whole_line_again():
    scope = Scope(("a",), eot=5, crashes=1)
    run = Broadcast(scope, "retry").run(NO_FAULTS)
    run = replace(run, faults=frozenset({Crash(2, "a", until=4)}))
    found = kinds(spacetime(run, scope))
    assert (found.count("lane"), found.count("lane dead")) == (2, 1)
    assert found.count("event") == 3


@pytest.mark.parametrize(
    ("faults", "arrived", "end"),
    [
        ([], 3, MessageEnd.ARRIVES),
        ([Delay(2, "a", "b", 1)], 4, MessageEnd.LATE),
        ([Loss(2, "a", "b")], None, MessageEnd.LOST),
        ([Loss(2, "a", "b"), Crash(2, "a")], None, MessageEnd.UNSENT),
        ([Crash(2, "a", reaches=("b",)), Loss(2, "a", "b")], None, MessageEnd.LOST),
        ([Crash(1, "a", until=2), Loss(2, "a", "b")], None, MessageEnd.LOST),
        ([Crash(3, "b")], None, MessageEnd.UNHEARD),
    ],
)
def test_a_message_has_one_end(
    faults: list[object], arrived: int | None, end: MessageEnd
):
    sent = SentMessage("a", "b", 2, "hello", arrived)
    assert fate(sent, frozenset(faults)) is end  # type: ignore[arg-type]


def test_messages_of_one_link_in_one_round_are_one_arrow():
    subject = Broadcast(Scope(("a", "b"), eot=3), "retry")
    run = subject.run(frozenset())
    twice = type(run)(run.faults, run.owed, run.kept, [*run.sent] * 2, run.support)
    assert kinds(spacetime(twice, subject.scope)).count("message") == 2


def test_a_crash_is_drawn_over_the_arrows_that_end_there():
    found = kinds(
        of_broadcast(Scope(ABC, eot=3, crashes=1), frozenset({Crash(2, "b")}))
    )
    assert found.index("crash") > max(i for i, k in enumerate(found) if k == "message")


def test_rounds_in_which_the_same_happens_again_are_left_out():
    scope = Scope(ABC, eot=30, eff=2, crashes=1)
    svg = of_broadcast(scope, frozenset({Loss(1, "a", "b"), Crash(20, "a")}))
    assert [one for one in texts(svg) if "⋮" in one] == ["⋮ 3–19", "⋮ 21–28"]
    assert {"1", "2", "20", "29", "30"} <= set(texts(svg))
    assert "4" not in texts(svg)


def test_of_many_nodes_those_that_matter_have_lines_and_the_others_share_one():
    nodes = tuple("abcdefghij")
    scope = Scope(nodes, eot=3, eff=2, crashes=1)
    svg = of_broadcast(scope, frozenset({Loss(1, "a", "j")}))
    assert names(svg) == ["a", "j", "b", "c", "d", "e"]
    assert [kind for kind in kinds(svg) if "name" in kind] == [
        *["name"] * 2,
        *["name beside"] * 4,
    ]
    assert "and 4 more" in texts(svg)
    assert "4 more: f, g, h, i" in [e.text for e in drawn(svg)]


def test_a_few_nodes_keep_their_order():
    svg = of_broadcast(Scope(ABC, eot=3, eff=2), frozenset({Loss(1, "a", "c")}))
    assert names(svg) == ["a", "b", "c"]


def test_no_run_of_ten_nodes_is_wider_than_a_window():
    nodes = tuple(f"replica-number-{n}" for n in range(10))
    faults: FaultSet = frozenset(Loss(1, nodes[0], node) for node in nodes[1:])
    svg = of_broadcast(Scope(nodes, eot=4, eff=3), faults)
    assert names(svg) == [shortened(node, 14) for node in nodes]
    assert float(drawn(svg)[0].attrib["width"]) <= WIDEST
    assert {e.text for e in drawn(svg) if e.tag.endswith("title")} >= {*nodes}


# -------------------------------------------------------------------------------- lineage


def test_the_cheapest_derivation_is_the_support():
    assert LINEAGE.support() == {DIRECT, LAST, ABSENT}


def test_derivations_come_with_the_fewest_messages_first():
    assert LINEAGE.ways()[OTHER] == [(DIRECT,), (SECOND,)]


def test_only_what_has_a_part_in_the_goal_is_kept():
    beside = Arc(GIVEN, Point(9, "a", "z(a)"), 7)
    assert Lineage(GOAL, (*LINEAGE.arcs, beside)).restricted() == LINEAGE


def test_a_goal_that_was_given_has_an_empty_support():
    assert Lineage(GIVEN, ()).support() == frozenset()
    assert Lineage(GIVEN, ()).points == [GIVEN]
    assert texts(lineage(Lineage(GIVEN, ()))) == ["x(a)@1"]


def test_points_that_need_each_other_are_drawn():
    circle = Lineage(GOAL, (Arc(OTHER, GOAL, 1), Arc(GOAL, OTHER, 2)))
    assert len(circle.support()) == 2
    assert len([k for k in kinds(lineage(circle)) if "point" in k]) == 2


def test_a_lineage_is_drawn_with_its_marks():
    found = kinds(lineage(lacking=(SENT,)))
    assert found.count("point lacking") == 1
    assert sum("support" in kind for kind in found) == 4
    assert found.count("arc chosen over") == 1
    assert found.count("arc absent chosen") == 1
    assert 'post("<&>")@4' in texts(lineage())


def test_what_a_point_needs_is_drawn_below_it():
    found = drawn(lineage())
    heights = {e.text: float(e.attrib["y"]) for e in found if "y" in e.attrib}
    assert heights["x(a)@1"] > heights["x(b)@2"] > heights["x(c)@3"]
    assert heights["x(c)@3"] > heights['post("<&>")@4']
    # What needs nothing stands just below what needs it.
    assert heights["not y(c)@4"] == heights["x(c)@3"]


def test_no_points_are_drawn_over_each_other():
    boxes = [
        (float(e.attrib["y"]), float(e.attrib["x"]), float(e.attrib["width"]))
        for e in drawn(lineage())
        if "point" in e.attrib.get("class", "")
    ]
    assert len(boxes) == 5
    for (y, x, wide), (other_y, other_x, _) in pairwise(sorted(boxes)):
        assert y < other_y or x + wide < other_x


def test_what_differs_in_nodes_that_do_not_matter_is_one_point():
    nodes = [f"n{i}" for i in range(60)]
    goal = Point(2, "", "all()")
    picture = LineagePicture((goal,))
    for n, node in enumerate(nodes):
        picture.add(Arc(Point(1, node, f'has("{node}", "x")'), goal, n))
    made = folded(picture, nodes, ["n0"])
    assert sorted(spot.text for spot in made.spots) == [
        "all()@2",
        'has("n0", "x")@1',
        'has(59 nodes, "x")@1',
    ]
    assert len(made.arcs) == 2


def test_what_is_kept_from_round_to_round_is_one_point():
    held = [Point(time, "a", 'has("a")') for time in range(1, 6)]
    arcs = [Arc(one, other, n) for n, (one, other) in enumerate(pairwise(held))]
    picture = LineagePicture((GOAL,))
    for arc in [*arcs, Arc(held[-1], GOAL, 9)]:
        picture.add(arc)
    assert {spot.text for spot in folded(picture, ABC).spots} == {
        'has("a")@1–5',
        'post("<&>")@4',
    }


def test_a_drawing_can_stand_alone_and_beside_others():
    svg = lineage()
    assert all("id" not in element.attrib for element in drawn(svg))
    assert drawn(svg)[0].attrib["aria-label"] == 'lineage of post("<&>")@4'
    assert [e.tag for e in drawn(alone(svg))].count(
        "{http://www.w3.org/2000/svg}style"
    ) == 1


def test_a_long_text_loses_its_middle():
    assert [shortened("abcdefgh", n) for n in (8, 5, 2)] == ["abcdefgh", "abc…h", "…h"]


def test_what_happens_round_after_round_is_one_point_if_all_is_too_high():
    picture = LineagePicture((Point(40, "b", "post()"),))
    held = [Point(time, "b", "has()") for time in range(2, 41)]
    picture.add(Arc(held[-1], picture.tops[0], 0))
    for one, other in pairwise(held):
        picture.add(Arc(one, other, 1))
        sent = Point(other.time - 1, "a", "say()")
        picture.add(Arc(sent, other, 2, is_message=True))
        picture.fates[sent, other] = "lost" if other.time % 2 else "not sent"
    made = folded(picture, ABC)
    assert [spot.text for spot in made.spots] == [
        "say()@2–39",
        "has()@2–40",
        "post()@40",
    ]
    assert sorted(said for _, said in made.arcs.values()) == ["", "lost or not sent"]
    assert made.spots[1].title.endswith("has()@21\nand 19 more")
