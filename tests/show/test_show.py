"""What is printed of a trace, compared with files that were read by hand."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.systems import VARIANTS, stack, workers
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold, clocks, granted_twice

import worldline as wl
from worldline.runs.record import Ending, record
from worldline.show.diagram import WIDTH, diagram
from worldline.show.exports import MOST_IN_DOT, dot, mermaid, shiviz
from worldline.show.steps import steps
from worldline.trace.format import Trace, read, write
from worldline.worlds.direct import DirectWorld

GOLDEN = Path(__file__).parent / "golden"
SCENES = {"both_hold": both_hold, "granted_twice": granted_twice}
FORMS: dict[str, Callable[[Trace], Iterator[str]]] = {
    "steps": steps,
    "diagram": diagram,
    "mermaid": mermaid,
    "dot": dot,
    "shiviz": shiviz,
}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("form", FORMS)
def test_a_trace_is_printed_as_in_the_golden_file(
    scene: str, form: str, tmp_path: Path
):
    write(SCENES[scene](), tmp_path / "trace.wl")
    lines = list(FORMS[form](read(tmp_path / "trace.wl")))
    text = "\n".join(lines).replace(wl.__version__, "VERSION") + "\n"
    assert text == (GOLDEN / f"{scene}.{form}").read_text("utf-8")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_form_takes_every_trace(variant: str):
    trace = random_trace(VARIANTS[variant](), 23)
    cut = dataclasses.replace(trace, end=None)
    for form in FORMS.values():
        assert all("\n" not in line for line in form(trace))
        assert list(form(cut))
    assert max(map(len, diagram(trace))) <= WIDTH


@pytest.mark.parametrize("size", [1, 2, 7, 15, 40])
def test_a_diagram_is_never_too_wide(size: int):
    names = [f"node-with-a-long-name-{number}" for number in range(size)]
    lines = list(diagram(random_trace(clocks(*names), 1, 60)))
    assert max(map(len, lines)) <= WIDTH
    rows = [line for line in lines if re.match(r" *-?\d+  ", line)]
    assert len(rows) == size + 60
    assert all(re.search(r"timer tick|start|Beat", row) for row in rows)


def test_names_cannot_break_a_format():
    system = clocks('qu"ote', "semi;colon#", "line\nbreak", "end", "per%{cent}")
    trace = random_trace(system, 1, 60)
    for line in dot(trace):
        assert len(re.findall(r'(?<!\\)"', line)) % 2 == 0
    for line in mermaid(trace):
        assert not re.search(r'["%{}\n]', line)
        assert all(re.fullmatch(r"#\d+;", e) for e in re.findall(r"#[^;]*;", line))
    check_shiviz("\n".join(shiviz(trace)), len(trace.steps))


def check_shiviz(text: str, events: int) -> None:
    """Parse a log as ShiViz does, and check its clocks."""
    expression, delimiter, *rest = text.split("\n")
    as_python = expression.replace("(?<", "(?P<")
    [start] = re.finditer(delimiter.replace("(?<", "(?P<"), "\n".join(rest), re.M)
    found = list(re.finditer(as_python, "\n".join(rest)[start.end() :]))
    assert len(found) == events
    seen: dict[str, int] = {}
    for match in found:
        clock = json.loads(match["clock"])
        host = match["host"]
        assert clock[host] == seen.get(host, 0) + 1
        seen[host] = clock[host]
        assert all(count <= seen[other] for other, count in clock.items())


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_shiviz_log_is_well_formed(variant: str):
    trace = random_trace(VARIANTS[variant](), 7)
    check_shiviz("\n".join(shiviz(trace)), len(trace.steps))


def test_long_runs_are_exported_in_part():
    trace = random_trace(clocks("a", "b", "c"), 4, 500)
    drawn = [line for line in dot(trace) if "[label=" in line and "->" not in line]
    assert 100 < len(drawn) <= MOST_IN_DOT
    lines = list(mermaid(trace))
    assert f"{len(trace.steps) - 200} earlier steps are left out" in "\n".join(lines)
    assert len(lines) < 210


def test_a_trace_without_steps_is_shown():
    system = workers(boot="events")
    ending = Ending(None, None, wl.Verdict.UNKNOWN)
    trace = record(
        DirectWorld(system), [], [], [], ending=ending, engine="test", seed=0
    )
    for form in FORMS.values():
        assert list(form(trace))


def test_the_graph_has_the_calls_of_a_step_as_a_hint():
    hints = [line for line in dot(random_trace(stack(), 1)) if "tooltip" in line]
    assert hints
    assert all(r"↓ link.route(b, " in hint or "↑ " in hint for hint in hints)
    assert not any("tooltip" in line for line in dot(random_trace(workers(), 1)))
