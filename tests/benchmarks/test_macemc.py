"""The measurements beside MaceMC's: steps to a live state, quantiles, the plot."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from benchmarks.cdf import Line, corners, svg
from benchmarks.live_steps import Curve, Sample, table
from benchmarks.macemc import JOBS, search
from tests.search.dying import climber

from worldline.engine.native.library import KernelMissing, library


@pytest.fixture
def _kernel() -> None:
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))


CURVE = Curve("ten", (10, 20, 40, 80), 5)


def test_a_quantile_is_where_that_share_of_all_walks_was_live():
    assert [CURVE.quantile(s) for s in (0.01, 0.2, 0.21, 0.8)] == [10, 10, 20, 80]
    assert CURVE.quantile(0.81) is None
    assert (CURVE.share(39), CURVE.share(40)) == (0.4, 0.6)


def test_the_table_has_a_dash_where_too_few_walks_were_live():
    *_, line = table([CURVE])
    assert line == "| ten | 5 | 60.0% | 10 | 20 | 40 | 80 | - | - | 80.0% |"


@pytest.mark.usefixtures("_kernel")
def test_steps_are_counted_from_state_0():
    """Nobody falls, so all live runs are as long as the climb is high."""
    sample = Sample(climber(top=20, edge=-1), paths=30, depth=5)
    curve = sample.walk("up", unbiased=True, seconds=10)
    assert curve == Curve("up", (20,), 1)


@pytest.mark.usefixtures("_kernel")
def test_a_walk_that_never_becomes_live_counts_as_one_without_steps():
    """Of the two states after the edge, who has fallen stays below."""
    sample = Sample(climber(top=20, edge=5), paths=30, depth=6)
    curve = sample.walk("edge", unbiased=True, seconds=10)
    assert curve == Curve("edge", (20,), 2)


@pytest.mark.usefixtures("_kernel")
def test_what_is_live_before_the_depth_is_not_walked_from():
    assert Sample(climber(top=4, edge=-1), paths=5, depth=6).states == []


@pytest.mark.usefixtures("_kernel")
def test_time_that_is_up_ends_the_walks():
    sample = Sample(climber(top=20, edge=5), paths=30, depth=6)
    assert sample.walk("edge", unbiased=True, seconds=0).walks == 1


def test_a_staircase_rises_at_its_values():
    found = list(corners(Line("", (5, 20, 20_000), 4)))
    assert found == [(10, 0.25), (20, 0.25), (20, 0.5), (10_000, 0.5)]


def test_the_plot_is_xml_with_a_line_and_a_name_for_each():
    drawn = svg("a < b", "steps", [Line("one", (10,), 1), Line("two", (), 1)])
    root = ElementTree.fromstring(drawn)
    words = [item.text for item in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a < b", "steps", "one", "two", "10,000"} <= set(words)
    assert "#0072b2" in drawn


@pytest.mark.parametrize("seed", range(5))
def test_walks_find_bt2_in_less_than_half_a_second_of_a_processor(seed: int):
    job = next(job for job in JOBS if job.bug.startswith("BT2"))
    row = next(row for row in job.rows if "`walk`" in row.technique)
    assert row.options is not None
    found = search(job, row.options, seed)
    assert found.steps is not None
    assert found.processor < 0.5
