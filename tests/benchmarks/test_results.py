"""What the benchmarks write into docs/results.md, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.results import RESULTS, Part


def test_a_script_replaces_its_own_part_alone(tmp_path: Path):
    page = tmp_path / "results.md"
    page.write_text("# A\n\n<!-- x.py: begin -->\nold\n<!-- x.py: end -->\n\n# B\n")
    part = Part("x.py", page)
    part.say("one")
    part.say("two")
    part.write()
    part.write()
    inside = "<!-- x.py: begin -->\n\none\n\ntwo\n\n<!-- x.py: end -->"
    assert page.read_text() == f"# A\n\n{inside}\n\n# B\n"


def test_a_page_without_that_part_stays_as_it_is(tmp_path: Path):
    page = tmp_path / "results.md"
    page.write_text("# A\n\n<!-- x.py: begin -->\n")
    with pytest.raises(SystemExit, match="has no lines"):
        Part("x.py", page).write()
    assert page.read_text() == "# A\n\n<!-- x.py: begin -->\n"


@pytest.mark.parametrize(
    "script", ["demi.py", "engine.py", "large.py", "predictions.py", "recorded_bugs.py"]
)
def test_the_page_has_a_part_for_each_script(script: str):
    text = RESULTS.read_text()
    begin, end = f"<!-- {script}: begin -->", f"<!-- {script}: end -->"
    assert text.count(begin) == text.count(end) == 1
    assert text.index(begin) < text.index(end)
