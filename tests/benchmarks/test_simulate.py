"""The benchmark of runs by the clock: what it counts, and what it draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from benchmarks import simulate

HUNDRED = simulate.measure(100, 20, judged=True, least=4_000)


def test_each_node_ticks_once_a_second_and_tells_somebody():
    assert HUNDRED.events == 4_000
    # Two events a second of each node.
    assert abs(HUNDRED.virtual_s - 4_000 / 200) < 1


def test_costs_are_drawn_by_the_number_of_nodes():
    costs = [HUNDRED._replace(nodes=nodes) for nodes in (1_000, 10_000)]
    drawn = simulate.figure(costs, [])
    root = ElementTree.fromstring(drawn)
    lines = [
        element.attrib["points"].split()
        for element in root
        if element.tag.endswith("polyline") and element.attrib["stroke-width"] == "2"
    ]
    assert [len(points) for points in lines] == [2]
    assert "events alone" in drawn


def test_a_row_of_the_table_is_a_run():
    row = simulate.table([HUNDRED]).splitlines()[-1]
    assert re.fullmatch(r"\| 100 \| 4,000 \| \d+\.\d \|.*\|", row)
