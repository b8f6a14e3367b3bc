"""Options are written once: signature, help, flags and defaults are those of the fields."""

from __future__ import annotations

import argparse
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run

import worldline as wl
from worldline.cli.options import add_options, given
from worldline.lineage.options import FaultOptions
from worldline.minimizing.options import MinimizeOptions
from worldline.options.declaring import VerbOptions, option, options_of, verb
from worldline.options.values import InPython, NameList, Switch, Whole
from worldline.search.options import CheckOptions
from worldline.search.simulating.options import SimulateOptions
from worldline.search.walks.options import FuzzOptions, WalkOptions
from worldline.zoo.toy import system as toy

VERBS: dict[str, tuple[Callable[..., Any], type[VerbOptions]]] = {
    "check": (wl.check, CheckOptions),
    "walk": (wl.walk, WalkOptions),
    "fuzz": (wl.fuzz, FuzzOptions),
    "faults": (wl.find_faults, FaultOptions),
}


@pytest.fixture(params=VERBS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (SimulateOptions, ("out", "metrics")),
        (SimulateOptions, ("out", "plot")),
        (SimulateOptions, ("metrics", "plot")),
        (MinimizeOptions, ("out", "pytest")),
        (FaultOptions, ("out", "report")),
    ],
)
def test_two_outputs_in_one_place_are_refused(
    options: type[VerbOptions],
    names: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("one")
    one, other = names
    for place in ("one", "./sub/../one", str(tmp_path / "one"), Path("link")):
        with pytest.raises(wl.UsageError, match=f"{one} and {other} would both be"):
            options.of(**{one: "one", other: place})
        with pytest.raises(wl.UsageError, match=f"{one} and {other} would both be"):
            options.of(**{one: place, other: "one"})
    options.of(**{one: "one", other: "sub/one"})
    with pytest.raises(wl.UsageError, match=f"{one} is .* the name of no file"):
        options.of(**{one: "o\0e"})


def parser_of(options: type[VerbOptions]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_options(parser, options)
    return parser


def flags_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {one.dest: one for one in parser._actions if one.dest != "help"}


def test_the_signature_has_every_field_with_its_default(name: str):
    function, options = VERBS[name]
    subject, *named = inspect.signature(function).parameters.values()
    assert subject.kind is inspect.Parameter.POSITIONAL_ONLY
    assert {one.kind for one in named} == {inspect.Parameter.KEYWORD_ONLY}
    fields = {one.name: one.default for one in options_of(options)}
    assert {one.name: one.default for one in named} == fields


def test_the_help_of_the_function_says_what_every_option_means(name: str):
    function, options = VERBS[name]
    said = " ".join((function.__doc__ or "").split())
    for one in options_of(options):
        meaning = f"{one.meaning[0].upper()}{one.meaning[1:]}."
        assert f"{one.name} : {one.type}, default: {one.default!r} {meaning}" in said


def test_the_types_of_all_options_can_be_asked_for(name: str):
    function, options = VERBS[name]
    hints = typing.get_type_hints(function)
    assert {one.name for one in options_of(options)} < set(hints)


def test_every_option_of_a_command_line_has_a_flag_with_its_meaning(name: str):
    options = VERBS[name][1]
    flags = flags_of(parser_of(options))
    fields = {one.name: one for one in options_of(options)}
    missing = {n for n in fields if n not in flags}
    assert all(isinstance(fields[n].about.value, InPython) for n in missing)
    assert set(flags) <= set(fields)
    for dest, action in flags.items():
        meaning = fields[dest].meaning.replace("%", "%%")
        assert str(action.help).startswith(meaning)
        assert fields[dest].flag in action.option_strings


def test_a_command_line_without_options_gives_none(name: str):
    options = VERBS[name][1]
    parsed = parser_of(options).parse_args([])
    assert given(parsed, options) == {}
    assert options.of().given == frozenset()


def test_groups_name_options_that_there_are_once_each(name: str):
    options = VERBS[name][1]
    named = [one for group in options.GROUPS for one in group.names]
    assert len(named) == len(set(named))
    assert set(named) <= {one.name for one in options_of(options)}


def test_an_idea_has_one_name_in_all_verbs():
    known = {one.name for _, options in VERBS.values() for one in options_of(options)}
    assert known.isdisjoint({"workers", "max_memory_mb", "strategy", "every"})
    kinds: dict[str, set[str]] = {}
    for _, options in VERBS.values():
        for one in options_of(options):
            kinds.setdefault(one.name, set()).add(type(one.about.value).__name__)
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}


def test_a_help_says_defaults_and_what_may_be_repeated():
    text = " ".join(parser_of(WalkOptions).format_help().split())
    assert (
        "walks that decide whether a state is dead, where there is no proof (" in text
    )
    assert "(default: 60)" in text
    assert "judge this property only (default: all); may be repeated" in text


@pytest.mark.parametrize(
    ("verb_name", "wrong", "said"),
    [
        (
            "check",
            "max_dept",
            "there is no option 'max_dept'; did you mean 'max_depth'?",
        ),
        ("check", "max_memory_mb", "no option 'max_memory_mb'; write max_memory"),
        ("check", "strategy", "no option 'strategy'; write depth_first=True"),
        ("walk", "workers", "no option 'workers'; write threads"),
        ("walk", "max_depth", "no option 'max_depth'; write depth"),
        ("faults", "every", "no option 'every'; write all"),
    ],
)
def test_what_is_no_option_is_refused_with_what_was_meant(
    verb_name: str, wrong: str, said: str
):
    with pytest.raises(wl.UsageError) as refused:
        VERBS[verb_name][0](toy(), **{wrong: 1})
    assert said in str(refused.value)


def test_a_subject_with_a_name_is_refused():
    anything: Any = wl.check
    with pytest.raises(wl.UsageError, match="takes one system, without a name"):
        anything(system=toy())


@pytest.mark.parametrize("value", ["no", 1, None.__class__], ids=str)
def test_a_switch_is_true_or_false(value: Any):
    with pytest.raises(wl.UsageError, match="neither True nor False"):
        wl.check(toy(), keep_going=value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"depth": 6}, "depth has no meaning here: no liveness property of toy"),
        ({"probes": 3}, "probes has no meaning here"),
        ({"certify": 0}, "certify has no meaning here"),
        ({"walk_faults": True}, "walk_faults has no meaning here"),
    ],
    ids=str,
)
def test_options_of_liveness_are_refused_where_none_is_judged(
    options: dict[str, Any], said: str
):
    with pytest.raises(wl.UsageError, match=said):
        wl.walk(toy(), walks=1, traces=False, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"liveness": True}, "liveness has no meaning here"),
        ({"max_liveness_states": 9}, "max_liveness_states has no meaning here"),
        ({"liveness": False, "max_liveness_states": 9}, "with no liveness"),
        ({"symmetry": True}, "toy declares no symmetric nodes"),
    ],
    ids=str,
)
def test_check_refuses_what_says_nothing_of_a_system(
    options: dict[str, Any], said: str
):
    with pytest.raises(wl.UsageError, match=said):
        wl.check(toy(), traces=False, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sweep": 1, "eot": 4}, "eot has no meaning in a sweep"),
        ({"sweep": 1, "all": True}, "all has no meaning in a sweep"),
        ({"negation": "ignore"}, "negation has no meaning for the engine symbolic"),
    ],
    ids=str,
)
def test_faults_refuse_what_says_nothing(options: dict[str, Any], said: str):
    with pytest.raises(wl.UsageError, match=said):
        wl.find_faults("zoo:retry-deliv", **options)


def test_the_command_refuses_as_the_function_does():
    said = refusal(run("walk", "zoo:toy", "--probes", "60"))
    assert "probes has no meaning here: no liveness property of toy is judged" in said
    assert "depth has no meaning" in refusal(run("walk", "zoo:toy", "--depth", "6"))


@pytest.mark.parametrize("verb", ["simulate", "run"])
def test_a_command_names_what_it_refuses_as_it_is_called_there(verb: str):
    given = ("--mode", "check", "--prediction-states", "9", "--seconds", "1")
    said = refusal(run(verb, "zoo:toy", *given))
    assert said.startswith("--prediction-states has no meaning with mode check")


class Counted(VerbOptions):
    """Not a dataclass: inherits none but the base's options."""


def test_a_verb_of_ones_own_takes_options_by_name():
    def count(system: str, options: VerbOptions) -> int:
        """Count.

        Parameters
        ----------
        system
            What to count.

        Returns
        -------
        int
            So many.
        """
        return len(system) + len(options.given)

    counting = verb(Counted)(count)
    assert counting("abc") == 3
    doc = inspect.getdoc(counting) or ""
    assert doc.index("What to count.") < doc.index("Returns")


def test_kinds_refuse_by_the_name_of_the_option():
    for kind, value in [
        (Whole(), 0),
        (Switch(), 2),
        (NameList(), "abc"),
        (NameList(distinct=True), ["a", "a"]),
    ]:
        with pytest.raises(wl.UsageError):
            kind.refuse("size", value)  # type: ignore[attr-defined]
    assert option(3, "size", Whole()) != 3


@pytest.mark.parametrize("name", ["depth", "max_steps", "walks"])
def test_none_does_not_pass_for_a_bound_that_is_not_there(name: str):
    options = {one.name: one for one in options_of(WalkOptions)}
    if options[name].default is None:
        WalkOptions.of(**{name: None})
    else:
        with pytest.raises(wl.UsageError, match=f"{name}=None says nothing"):
            WalkOptions.of(**{name: None})
