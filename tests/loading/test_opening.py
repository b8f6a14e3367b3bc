"""What `check` and its kin take for a system, and the origin that it has then."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.loading.loader import load, origin_of, same_target
from worldline.loading.opening import open_system
from worldline.zoo import broadcast, toy

LOCKS = """\
import worldline as wl

@wl.node
class Lock:
    held: bool = False

    @wl.call
    def take(self, ctx):
        self.held = True

@wl.safety
def free(view):
    return not any(view[node].held for node in view.nodes)

def system(clients: int = 1):
    nodes = wl.ids(*(f"c{n}" for n in range(clients)))
    return wl.System({node: Lock() for node in nodes}, properties=[free],
                     name=f"locks-{clients}", workload=[wl.whenever(Lock.take)])

def sized(clients: int):
    return system(clients)

only = system()

def shared():
    return only
"""


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module in the present folder, imported as a test would."""
    (tmp_path / "locks.py").write_text(LOCKS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "locks", raising=False)
    import locks  # type: ignore[import-not-found]

    yield locks
    sys.modules.pop("locks")


def target(function: Callable[..., Any]) -> str | None:
    origin = open_system(function).origin
    return None if origin is None else origin.target


@pytest.mark.parametrize("given", ["locks.py", "locks.py:system", "locks:system"])
def test_a_text_is_loaded_as_on_the_command_line(locks: Any, given: str):
    report = wl.check(given, parameters={"clients": "2"})
    assert (report.system, report.verdict) == ("locks-2", wl.Verdict.VIOLATED)


def test_a_path_is_a_target(locks: Any, tmp_path: Path):
    assert wl.check(tmp_path / "locks.py").system == "locks-1"


def test_a_system_of_the_zoo_is_found_by_name():
    assert wl.check("zoo:toy", traces=False).verdict is wl.Verdict.HOLDS


def test_a_function_is_called_without_arguments(locks: Any):
    assert wl.check(locks.system, traces=False).system == "locks-1"


def test_the_command_of_a_trace_names_the_function(locks: Any, tmp_path: Path):
    report = wl.check(locks.system)
    failed = report.expect_violated("free")
    assert failed.replay == (
        "worldline replay worldline-out/locks-1-free.wl locks:system"
    )
    assert failed.trace is not None
    assert wl.replay(failed.trace, "locks:system").reproduced
    assert wl.replay(failed.trace, "locks.py").source_changed is False


def test_parameters_are_in_the_trace_and_reach_the_function_again(locks: Any):
    failed = wl.check(locks.sized, parameters={"clients": "2"}).violated
    assert failed is not None
    assert failed.trace is not None
    assert failed.replay == "worldline replay worldline-out/locks-2-free.wl locks:sized"
    for again in ("locks:sized", locks.sized):
        assert wl.replay(failed.trace, again).reproduced


def test_a_trace_of_a_function_can_be_searched_on_from_its_file(locks: Any):
    failed = wl.check(locks.system).violated
    assert failed is not None
    assert failed.trace is not None
    start = f"{failed.trace}:0"
    assert wl.check("locks.py", from_=start).verdict is wl.Verdict.VIOLATED


def test_walk_and_find_faults_take_functions():
    with pytest.raises(wl.UsageError, match="toy has no property 'unheard'"):
        wl.walk(toy.system, properties=["unheard"])
    found = wl.find_faults(
        broadcast.system,
        parameters={"variant": "simple"},
        eot=3,
        eff=2,
        traces=False,
    )
    assert [len(faults) for faults in found.falsifiers] == [1]


def test_a_function_with_required_parameters_is_refused_with_the_call(locks: Any):
    with pytest.raises(wl.UsageError) as caught:
        wl.check(locks.sized)
    assert str(caught.value) == (
        "sized cannot be called without clients; give parameters={'clients': '...'}, "
        "or call it: sized(clients=...)"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "5 is no system; give a wl.System(...), a function that returns one"),
        (None, "None is no system; give"),
        (toy, "worldline.zoo.toy is no system; give a function of it: "),
        (wl.System, "System is no system; give a wl.System"),
        (lambda: None, "<lambda> returned None, which is no system; give"),
        ("locks", "cannot load 'locks'; TARGET is zoo:NAME"),
    ],
)
def test_what_is_no_system_is_refused(given: Any, said: str):
    with pytest.raises(wl.UsageError) as caught:
        open_system(given)
    assert str(caught.value).startswith(said)


def test_a_system_that_is_made_takes_no_parameters():
    with pytest.raises(wl.UsageError, match="toy is made already, and takes no param"):
        wl.check(toy.system(), parameters={"nodes": "3"})


def test_a_parameter_may_be_a_number_or_a_bool_and_is_read_as_its_text():
    def made(size: int, share: float, is_fast: bool) -> wl.System:
        assert (size, share, is_fast) == (3, 0.5, True)
        return toy.system()

    given = {"size": 3, "share": 0.5, "is_fast": True}
    assert open_system(made, given).name == "toy"


def test_a_parameter_is_nothing_else(locks: Any):
    said = r"clients is \[3\], which is no text, number or bool; write "
    with pytest.raises(wl.UsageError, match=said):
        wl.check(locks.system, parameters={"clients": [3]})  # type: ignore[dict-item]


def test_a_parameter_is_text_for_whatever_is_asked():
    with pytest.raises(wl.UsageError, match=r"minimum is \(\), which is no text"):
        wl.find_faults("zoo:replication", parameters={"minimum": ()})  # type: ignore[dict-item]


def test_what_a_function_raises_is_passed_on():
    def broken() -> wl.System:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wl.check(broken)


def test_a_function_of_the_zoo_is_named_as_there():
    assert target(toy.system) == "zoo:toy"
    assert open_system(toy.system).origin == load("zoo:toy", {}).origin


def test_what_cannot_be_loaded_again_has_no_origin(locks: Any):
    def inner() -> wl.System:
        made: wl.System = locks.system()
        return made

    assert target(inner) is None
    assert target(lambda: locks.system(2)) is None
    assert target(functools.partial(locks.system, clients=2)) is None


def test_a_module_elsewhere_is_named_by_its_file(
    locks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "below"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert target(locks.system) == f"{tmp_path.resolve() / 'locks.py'}:system"
    monkeypatch.chdir(tmp_path.parent)
    assert target(locks.system) == f"{tmp_path.name}/locks.py:system"


def test_a_function_and_its_file_have_the_same_source(locks: Any):
    function = origin_of(locks.system, {})
    file = load("locks.py", {}).origin
    assert function is not None
    assert file is not None
    assert function.source == file.source


def test_a_system_that_others_use_too_gets_no_origin(locks: Any):
    assert target(locks.shared) == "locks:shared"
    assert locks.only.origin is None


def test_a_file_and_its_module_are_the_same_target():
    assert same_target("tests/locks.py", "locks:system")
    assert same_target("locks.py:system", "tests.locks:system")
    assert not same_target("a.locks:system", "b.locks:system")
    assert not same_target("locks.py:other", "locks:system")
