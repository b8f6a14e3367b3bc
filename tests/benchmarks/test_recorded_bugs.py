"""The zoo's bugs in recordings of deployed runs: found, and not where they are mended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.recorded_bugs import BUGS, CONTROLS, MOST, attempt, attempts, find

from worldline.zoo import bugs

pytest.importorskip("msgspec")


def test_they_are_bugs_of_the_zoo_and_each_command_can_be_typed():
    published = bugs()
    for name, bug in BUGS.items():
        _, *switched = published[name].command.split()[:4]
        assert switched == [bug.target, "-p", f"bugs={bug.bug}"]
        run, replay = bug.commands("here", 3, fixed=True)
        assert "bugs=" not in run + replay
        assert replay.startswith(f"replay here {bug.target}")


@pytest.mark.slow
def test_a_bug_is_found_in_a_recording(tmp_path: Path):
    bug = BUGS["randtree-cb4"]
    quick = replace(bug, run=f"{bug.run} --together")
    found = attempt(quick, 0, tmp_path, fixed=False)
    assert found.code == 1
    assert found.violated[bug.broken] > 0
    assert found.event.startswith(("deliver", "transport_error"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", BUGS)
def test_each_is_found_in_recordings(name: str):
    found = find(BUGS[name], MOST)
    assert found is not None
    assert found[1].code == 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", BUGS)
def test_the_fixed_system_violates_nothing(name: str):
    for one in attempts(BUGS[name], CONTROLS, fixed=True):
        assert one.violated == {}
        assert one.code in (0, 3)
