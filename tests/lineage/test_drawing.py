from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

from tests.lineage.broadcast import Broadcast

from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.lineage.explaining.drawing import lineage_drawing, spacetime
from worldline.lineage.explaining.graph import Arc, Lineage, Point

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


def test_a_run_is_drawn_with_its_losses_and_crashes():
    subject = Broadcast(Scope(ABC, eot=3, eff=2, crashes=1), "retry")
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    found = kinds(spacetime(subject.run(faults), subject.scope))
    assert found.count("event") == 9
    assert found.count("message") == 1
    assert found.count("message lost") == 3  # one is lost, two are never sent
    assert found.count("cross") == 3
    assert found.count("crash") == 1
    assert "lane dead" in found


def test_messages_of_one_link_in_one_round_are_one_arrow():
    subject = Broadcast(Scope(("a", "b"), eot=3), "retry")
    run = subject.run(frozenset())
    twice = type(run)(run.faults, run.owed, run.kept, [*run.sent] * 2, run.support)
    assert kinds(spacetime(twice, subject.scope)).count("message") == 2


def test_the_cheapest_derivation_is_the_support():
    assert LINEAGE.support() == {DIRECT, LAST, ABSENT}


def test_what_another_run_lacks_is_told_but_not_what_was_absent():
    assert LINEAGE.lacking([GIVEN]) == [SENT, OTHER, GOAL]


def test_what_was_absent_and_holds_in_another_run_is_told():
    absent = Point(4, "c", "not y(_, 1)")
    lineage = Lineage(GOAL, (LAST, Arc(absent, GOAL, 4, is_absent=True)))
    there = [Point(4, "a", 'y("b", 1)'), Point(4, "a", 'y("b", 2)'), GOAL]
    assert lineage.appearing(there) == {absent: [there[0]]}
    assert lineage.appearing([Point(3, "a", 'y("b", 1)')]) == {}


def test_only_what_has_a_part_in_the_goal_is_kept():
    beside = Arc(GIVEN, Point(9, "a", "z(a)"), 7)
    assert Lineage(GOAL, (*LINEAGE.arcs, beside)).restricted() == LINEAGE


def test_a_goal_that_was_given_has_an_empty_support():
    assert Lineage(GIVEN, ()).support() == frozenset()
    assert Lineage(GIVEN, ()).points == [GIVEN]


def test_points_that_need_each_other_are_drawn():
    circle = Lineage(GOAL, (Arc(OTHER, GOAL, 1), Arc(GOAL, OTHER, 2)))
    assert circle.support() == frozenset()
    assert len([k for k in kinds(lineage_drawing(circle, [], ())) if "point" in k]) == 2


def test_a_lineage_is_drawn_with_its_marks():
    svg = lineage_drawing(LINEAGE, [SENT], LINEAGE.support())
    found = kinds(svg)
    assert found.count("point lacking") == 1
    assert found.count("point support") == 4
    assert found.count("arc over chosen") == 1
    assert found.count("arc absent chosen") == 1
    (label,) = (e.text for e in drawn(svg) if e.text and "post" in e.text)
    assert label == 'post("<&>")@4'


def heights_of_labels() -> dict[str | None, float]:
    return {
        e.text: float(e.attrib["y"])
        for e in drawn(lineage_drawing(LINEAGE, [], ()))
        if e.attrib.get("class") == "label"
    }


def test_what_needs_nothing_is_drawn_just_below_what_needs_it():
    heights = heights_of_labels()
    assert heights["not y(c)@4"] == heights["x(c)@3"]
    assert heights["x(a)@1"] > heights["not y(c)@4"]


def test_no_points_are_drawn_over_each_other():
    boxes = [
        (float(e.attrib["y"]), float(e.attrib["x"]), float(e.attrib["width"]))
        for e in drawn(lineage_drawing(LINEAGE, [], ()))
        if e.attrib.get("class") == "point"
    ]
    assert len(boxes) == 5
    for (y, x, wide), (other_y, other_x, _) in pairwise(sorted(boxes)):
        assert y < other_y or x + wide < other_x


def test_a_crash_is_drawn_over_the_arrows_that_end_there():
    subject = Broadcast(Scope(ABC, eot=3, eff=2, crashes=1), "retry")
    found = kinds(spacetime(subject.run(frozenset({Crash(2, "b")})), subject.scope))
    assert found.index("crash") > max(i for i, k in enumerate(found) if k == "message")


def test_a_page_can_hold_many_drawings():
    svg = lineage_drawing(LINEAGE, [], ())
    assert all("id" not in element.attrib for element in drawn(svg))
    assert drawn(svg)[0].attrib["aria-label"] == 'lineage of post("<&>")@4'


def test_what_a_point_needs_is_drawn_below_it():
    heights = heights_of_labels()
    assert heights["x(a)@1"] > heights["x(b)@2"] > heights["x(c)@3"]
    assert heights["x(c)@3"] > heights['post("<&>")@4']
