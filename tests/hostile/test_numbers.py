"""Absurd numbers for every option that takes one: a refusal in a line, or an answer."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline.cli.main import main
from worldline.loading.loader import load
from worldline.model.errors import UsageError
from worldline.search.engines import MOST_THREADS, processors

HUGE = ("2147483648", "9223372036854775808", "1" + "0" * 30, "1" + "0" * 400)
ODD = ("1" + "0" * 5000, "nan", "inf", "1e400", "0x10", "1_0", "٣", "true", "", "-1")

CHECK = "check zoo:toy"
WALK = "walk zoo:brokentree --depth 2 --walks 2 --max-steps 9 --certify 9"
FAULTS = "faults zoo:simple-deliv --eot 3 --eff 2 --max-executions 5"

COUNTS = (
    *((CHECK, o) for o in ("--max-depth", "--max-states", "--max-memory")),
    *((CHECK, o) for o in ("--max-liveness-states", "--threads")),
    *((WALK, o) for o in ("--depth", "--max-steps", "--walks", "--certify")),
    *((WALK, o) for o in ("--emit-live", "--max-memory", "--threads")),
    *((FAULTS, o) for o in ("--eot", "--eff", "--crashes", "--delay")),
    *((FAULTS, o) for o in ("--max-executions", "--max-memory")),
)
SEEDS = ((CHECK, "--seed"), (WALK, "--seed"), (FAULTS, "--seed"))
TIMES = tuple((verb, "--max-seconds") for verb in (CHECK, WALK, FAULTS))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answered(words: list[str]) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
    return status, err.getvalue()


def is_refused(command: str, option: str, value: str) -> bool:
    status, err = answered([*command.split(), f"{option}={value}"])
    assert len(err) < 500
    assert "internal error" not in err
    assert status in (0, 1, 2, 3)
    return status == 2


@pytest.mark.parametrize(("command", "option"), share([*COUNTS, *SEEDS], every=3))
def test_what_is_no_whole_number_is_refused(command: str, option: str):
    odd = ODD[:-1] if option == "--seed" else ODD
    assert [v for v in odd if not is_refused(command, option, v)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option"), share([c for c in COUNTS if c[0] != FAULTS], every=3)
)
def test_a_huge_number_is_a_bound_that_is_never_hit_or_refused(
    command: str, option: str
):
    plain = answered(command.split())[0]
    for value in HUGE:
        if option == "--emit-live" and value == HUGE[0]:
            continue  # looked for in vain, for long
        status = answered([*command.split(), f"{option}={value}"])[0]
        assert status in (2, plain)
        assert status == 2 or len(value) < 19


@pytest.mark.parametrize(
    ("option", "value"),
    [(o, v) for c, o in COUNTS if c == FAULTS for v in HUGE if len(v) > 10],
)
def test_a_scope_of_a_huge_number_is_refused(option: str, value: str):
    assert is_refused(FAULTS, option, value)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--eot", "--eff", "--crashes", "--delay"])
def test_a_scope_beyond_all_reason_is_refused(option: str):
    assert is_refused(FAULTS, option, HUGE[0])


@pytest.mark.parametrize(("command", "option"), TIMES)
def test_what_is_no_time_is_refused(command: str, option: str):
    odd = ("nan", "inf", "-1", "0", "-0", "1e400", "", "1_0", "٣", "9" * 5000)
    assert [v for v in odd if not is_refused(command, option, v)] == []


@pytest.mark.parametrize("weight", [*HUGE, *ODD, "0"])
def test_what_is_no_weight_is_refused(weight: str):
    assert is_refused(WALK, "--weight", f"call={weight}")


@pytest.mark.parametrize("threads", [2**31, 2**63, 10**30, 10**400, 0, -1, True, 2.0])
@pytest.mark.parametrize("verb", ["check", "walk"])
def test_threads_that_cannot_exist_are_refused(verb: str, threads: Any):
    system = load("zoo:brokentree", {})
    with pytest.raises(UsageError, match="threads="):
        getattr(wl, verb)(system, threads=threads)


def test_a_refusal_of_threads_says_how_many_processors_there_are():
    with pytest.raises(UsageError, match=f"here are {processors()} processors"):
        wl.check(load("zoo:toy", {}), threads=10**6)


def test_more_threads_than_processors_are_no_harm_while_they_are_few():
    wl.check(load("zoo:toy", {}), threads=MOST_THREADS, traces=False)


@pytest.mark.parametrize(
    "most", share([2**62 - 1, 2**63 - 1, 2**64 + 3, 10**30, 10**400], every=2)
)
@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_bound_beyond_all_counting_is_none(engine: Any, most: int):
    system = load("zoo:toy", {})
    free = wl.check(system, engine=engine, traces=False)
    for options in (
        {"max_states": most},
        {"max_depth": most},
        {"max_memory": most},
        {"max_depth": most, "depth_first": True, "engine": "python"},
    ):
        bound = wl.check(system, traces=False, **{"engine": engine, **options})
        assert (bound.verdict, bound.states, bound.bound) == (
            free.verdict,
            free.states,
            None,
        )


@pytest.mark.parametrize("most", [2**63 - 1, 2**64, 2**64 + 1, 10**400])
@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_walk_without_a_bound_on_its_steps_is_not_cut_short(engine: Any, most: int):
    system = load("zoo:brokentree", {})
    found = wl.walk(system, depth=3, max_steps=most, engine=engine, traces=False)
    assert found.verdict is wl.Verdict.UNKNOWN


@pytest.mark.parametrize(
    "options",
    [
        {"max_states": 0},
        {"max_states": True},
        {"max_states": 2.5},
        {"max_depth": -1},
        {"max_memory": 0},
        {"max_seconds": float("nan")},
        {"max_seconds": float("inf")},
        {"max_seconds": -1},
        {"max_seconds": "1"},
        {"max_liveness_states": 0},
    ],
    ids=str,
)
def test_check_refuses_what_is_no_bound(options: dict[str, Any]):
    (name,) = options
    with pytest.raises(UsageError, match=f"{name}="):
        wl.check(load("zoo:toy", {}), **options)
