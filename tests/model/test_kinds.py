"""The table of event kinds, and kinds that are added to it."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.model.data.values import freeze, thaw
from worldline.model.kinds import BUDGETS, KINDS, RANKED, Kind, register_kind

ROOT = Path(__file__).resolve().parents[2]


def test_the_canonical_order_of_kinds_is_that_of_the_table():
    assert " ".join(KINDS) == (
        "start deliver refuse transport_error timer call drop duplicate disconnect "
        "reset crash restart partition heal"
    )
    assert [kind.rank for kind in RANKED] == list(range(14))
    assert list(KINDS.values()) == RANKED


def test_the_budgets_are_those_of_the_faults_in_the_same_order():
    assert " ".join(BUDGETS) == (
        "drops duplicates connection_errors resets silent_resets crashes restarts "
        "partitions"
    )
    free = [kind for kind in RANKED if kind.is_fault and not kind.budgets]
    assert free == [Kind.HEAL]


def test_external_is_what_the_application_or_a_fault_brings_about():
    internal = [kind for kind in RANKED if not kind.is_external]
    assert internal == [Kind.DELIVER, Kind.REFUSE, Kind.TRANSPORT_ERROR, Kind.TIMER]
    assert [kind for kind in RANKED if not kind.is_fault and kind.is_external] == [
        Kind.START,
        Kind.CALL,
    ]


def test_a_reset_that_somebody_misses_draws_on_a_budget_of_its_own():
    assert Kind.RESET.budget(()) == "resets"
    assert Kind.RESET.budget(wl.ids("a")) == "silent_resets"
    assert Kind.DROP.budget("whatever") == "drops"
    assert Kind.DELIVER.budget("whatever") is None


STALL: dict[str, Any] = {
    "value": "stall",
    "origin": wl.Origin.FAULT,
    "weight": "fault",
    "budgets": ("stalls",),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # `Kind.DELIVER` would be another one from then on.
        ({"value": "DELIVER"}, "has the name 'DELIVER'; name it and its budgets in"),
        ({"value": ""}, "has the name ''"),
        ({"value": None}, "has the name None"),
        ({"value": "a\nb"}, "has the name 'a"),
        ({"value": "deliver"}, "has a name that is taken: deliver"),
        ({"budgets": ("drops",)}, "has a name that is taken: drops"),
        ({"budgets": "stalls"}, "draws on 'stalls'; give one budget, as in"),
        ({"budgets": None}, "has the name None"),
        ({"budgets": ("one", "one")}, r"draws on \('one', 'one'\)"),
        ({"budgets": ("one", "two", "three")}, "draws on"),
        ({"budgets": (3,)}, "has the name 3"),
        ({"origin": "fault"}, "has the origin 'fault'; use one of Origin.APPLICATION"),
        ({"origin": None}, "has the origin None"),
        ({"weight": "heavy"}, "has the weight 'heavy'; use one of application, "),
        ({"breaks": "all"}, "has the breaks 'all'; use one of none, of node, "),
    ],
)
def test_what_is_no_row_is_refused_and_leaves_no_mark(
    change: dict[str, Any], message: str
):
    before = (dict(KINDS), dict(Kind.__members__), [*RANKED], [*BUDGETS])
    with pytest.raises(wl.ModelError, match=message):
        register_kind(Kind(**{**STALL, **change}))
    assert before == (dict(KINDS), dict(Kind.__members__), [*RANKED], [*BUDGETS])
    assert Kind.DELIVER is KINDS["deliver"]


@pytest.mark.parametrize("given", [None, "stall", Kind, STALL])
def test_only_a_kind_can_be_registered(given: Any):
    with pytest.raises(wl.ModelError, match="is no kind of event; register a Kind"):
        register_kind(given)


def test_there_is_one_object_of_a_kind_even_in_copies_and_in_states():
    for kind in RANKED:
        assert copy.deepcopy(kind) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
        assert thaw(freeze(kind)) is kind


def test_a_name_is_given_once():
    row: dict[str, Any] = {"origin": wl.Origin.FAULT, "weight": "fault"}
    with pytest.raises(wl.ModelError, match="is taken: drop;"):
        register_kind(Kind(value="drop", **row))
    with pytest.raises(wl.ModelError, match="is taken: drops;"):
        register_kind(Kind(value="spill", budgets=("drops",), **row))
    assert "spill" not in KINDS


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"is_about_message": True, "budgets": ("spills",)}, "does not arrive; add"),
        (
            {"is_about_connection": True, "arrives": True, "budgets": ("spills",)},
            "about a connection, but arrives; leave out",
        ),
        ({"is_about_message": True, "arrives": True}, "has 0 budgets; give it one"),
        ({"is_about_connection": True, "budgets": ("p", "q")}, "has 2 budgets; give"),
    ],
)
def test_a_row_that_tables_could_not_serve_is_refused(row: dict[str, Any], what: str):
    with pytest.raises(wl.ModelError, match=what):
        register_kind(
            Kind(value="spill", origin=wl.Origin.FAULT, weight="fault", **row)
        )
    assert "spill" not in KINDS


@pytest.mark.parametrize("name", ["stalls", "drops"])
def test_other_budgets_are_those_of_registered_kinds_alone(name: str):
    with pytest.raises(wl.ModelError, match=rf"Faults\(others=...\) names '{name}'"):
        wl.Faults(others={name: 1})


# --------------------------------------------------------------- kinds that are added

SCRIPT = """
import contextlib, io, json
from tests.model import stalling
import worldline as wl
from worldline.cli.main import main
from worldline.trace.format import read

def said(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = main(list(arguments))
    return [status, out.getvalue()]

def kinds_of(path):
    return [step.kind for step in read(path).run]

found = {}
for name in ("streams", "datagrams"):
    target = f"tests.model.stalling:{name}"
    for engine in ("native", "python"):
        file = f"{name}.{engine}.wl"
        wl.check(target, engine=engine, out=file).expect_violated("no_gaps")
        found[f"{name} {engine}"] = kinds_of(file)
    found[f"{name} diagram"] = said("show", "--diagram", file)
    found[f"{name} steps"] = said("show", file)
    found[f"{name} replay"] = said("replay", file, target)
    said("debug", file, target, "-c", "jump 0", "-c", f"save {name}.wl")
    wl.check(target, from_=f"{name}.wl", out="begun.wl").expect_violated("no_gaps")
    found[f"{name} begun"] = kinds_of("begun.wl")
    fault = {"streams": "stalls", "datagrams": "expiries"}[name]
    wl.fuzz(target, inject=[fault], out="fuzzed.wl").expect_violated("no_gaps")
    found[f"{name} fuzz"] = kinds_of("fuzzed.wl")
    without = wl.check(target, parameters={fault: "0"})
    without.expect_holds()
    found[f"{name} without"] = without.states
try:
    wl.System({stalling.A: stalling.Peer()}, faults=wl.Faults(others={"stalls": 1}))
except wl.ModelError as error:
    found["refused"] = error.what
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process tells in which `stalling` has registered its two kinds."""
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path_factory.mktemp("added"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stderr == ""
    return json.loads(process.stdout)


GAP = ["call", "call", "deliver", "stall", "call", "deliver"]
"""The second of three items is lost on a connection that the first one opened."""

EXPIRED = ["call", "expire", "call", "deliver"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "python"])
def test_an_added_fault_is_explored_by_both_engines(added: Any, engine: str):
    assert added[f"streams {engine}"] == GAP
    assert added[f"datagrams {engine}"] == EXPIRED


@pytest.mark.slow
def test_an_added_fault_is_explored_from_a_state_that_was_saved(added: Any):
    assert added["streams begun"] == GAP
    assert added["datagrams begun"] == EXPIRED


@pytest.mark.slow
def test_an_added_fault_without_a_budget_changes_nothing(added: Any):
    # k items sent, j of them delivered, 0 <= j <= k, of 3 and of 2.
    assert (added["streams without"], added["datagrams without"]) == (10, 6)


@pytest.mark.slow
def test_an_added_fault_is_shown_and_replayed(added: Any):
    assert "stall the connection to b" in added["streams steps"][1]
    assert "~ stalled" in added["streams diagram"][1]
    assert "expire Item(number=1) from a" in added["datagrams steps"][1]
    assert "e expired" in added["datagrams diagram"][1]
    assert [added[f"{name} replay"][0] for name in ("streams", "datagrams")] == [1, 1]


@pytest.mark.slow
def test_an_added_fault_can_be_injected_when_fuzzing(added: Any):
    assert "stall" in added["streams fuzz"]
    assert "expire" in added["datagrams fuzz"]


@pytest.mark.slow
def test_a_fault_of_connections_is_refused_where_there_are_none(added: Any):
    assert added["refused"] == (
        "Faults(stalls=...) cannot happen on datagrams as declared"
    )
