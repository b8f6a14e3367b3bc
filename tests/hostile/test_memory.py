"""Searches that need far more memory than they may have: they say so, and stay within.

Each runs in a process of its own, that tells the most memory it ever had.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.shares import share

from worldline.engine import room

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is told by /proc only"
)

SCRIPT = """\
import sys
import worldline as wl
from worldline.engine.room import Room, peak_memory_mb, memory_mb
from worldline.loading.loader import load
verb, target, parameters, options = sys.argv[1], sys.argv[2], *map(eval, sys.argv[3:5])
system = load(target, parameters)
search = getattr(wl, verb)  # imports it: that is no part of what is measured
more = options.pop("more", None)
if more is not None:
    options["max_memory"] = int(memory_mb() + more)
most = options.get("max_memory") or Room().ceiling / 2**20
report = search(system, traces=False, **options)
notes = [note for note in report.notes if "--max-memory" in note]
print(report.verdict, report.bound, (peak_memory_mb() - GRAIN_MB) / most, notes)
""".replace("GRAIN_MB", "2")  # Python takes memory from the system by the megabyte

INTERNED = ("check", "zoo:randtree", {"bugs": "rt14"}, {"engine": "native"})
COUNTED = ("check", "zoo:twophase", {"n": "10"}, {"engine": "native"})
WHOLE = ("check", "zoo:twophase", {"n": "9"}, {"engine": "native", "exact": True})
DEEP = (
    "check",
    "zoo:randtree",
    {"bugs": "rt14"},
    {"depth_first": True, "max_depth": 90},
)
PLAIN = ("check", "zoo:randtree", {"bugs": "rt14"}, {"engine": "python"})
WALKED = ("walk", "zoo:randtree", {"size": "5", "resets": "2"}, {"depth": 40})
WALKED_PLAIN = (*WALKED[:3], {**WALKED[3], "engine": "python"})

RANDOM = ("fuzz", "zoo:randtree", {"size": "5", "resets": "2"}, {"threads": 1})

Case = tuple[str, str, dict[str, str], Mapping[str, object]]


def searched(case: Case, options: Mapping[str, object], folder: Path) -> list[str]:
    """Return the verdict, the bound, the share of the bound that was taken, notes."""
    verb, target, parameters, own = case
    done = subprocess.run(
        [
            *(sys.executable, "-c", SCRIPT, verb, target),
            *(repr(parameters), repr({**own, **options})),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, room.GROUPS: str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(maxsplit=3)


def stays_within(found: list[str]) -> bool:
    verdict, bound, share, notes = found
    assert (verdict, bound) == ("Verdict.UNKNOWN", "memory")
    assert "--max-memory" in notes
    return float(share) <= 1.03


@pytest.mark.slow
@pytest.mark.parametrize("case", [INTERNED, COUNTED, PLAIN], ids=str)
def test_a_search_ends_before_its_memory_does(case: Case, tmp_path: Path):
    assert stays_within(searched(case, {"more": 8}, tmp_path))


@pytest.mark.slow
def test_a_search_in_a_control_group_leaves_a_quarter_of_it(tmp_path: Path):
    (tmp_path / "memory.max").write_text(str(60 * 2**20))
    assert stays_within(searched(COUNTED, {}, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "seconds"),
    [(8, 1.5), pytest.param(60, 60, marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("engine", share(["native", "python"], only=["native"]))
def test_random_runs_go_on_where_tables_have_no_room(
    engine: str, more: int, seconds: float, tmp_path: Path
):
    """They end with the time that they have, not with their memory."""
    if engine == "python" and more > 8:
        pytest.skip("the reference does not come so far in a minute")
    options = {"more": more, "max_seconds": seconds, "engine": engine}
    verdict, bound, share, _ = searched(RANDOM, options, tmp_path)
    assert (verdict, bound) == ("Verdict.UNKNOWN", "seconds")
    assert float(share) <= 1.03


@pytest.mark.nightly
@pytest.mark.parametrize("more", [60, 250])
@pytest.mark.parametrize(
    "case",
    [INTERNED, COUNTED, WHOLE, DEEP, PLAIN, WALKED, WALKED_PLAIN],
    ids=str,
)
def test_of_three_times_its_memory_a_search_takes_no_more_than_it_may(
    case: Case, more: int, tmp_path: Path
):
    assert stays_within(searched(case, {"more": more}, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("case", [INTERNED, COUNTED, PLAIN, WALKED], ids=str)
def test_of_three_times_its_group_a_search_takes_no_more_than_it_may(
    case: Case, tmp_path: Path
):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/memory.limit_in_bytes").write_text(str(200 * 2**20))
    assert stays_within(searched(case, {}, tmp_path))
