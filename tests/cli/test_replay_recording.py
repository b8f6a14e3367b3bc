"""`worldline replay` of a recording."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.runs.recording.simulated import record
from tests.trace.journal.reframed import raw_blocks

from worldline.cli.main import main
from worldline.loading.opening import open_system
from worldline.model.system import SystemOrigin
from worldline.trace.journal.framing import MAGIC


@pytest.fixture(autouse=True)
def _recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(Path("run"), open_system("zoo:paxos", {}), seconds=20, loss=0.2)


def test_a_recording_of_the_zoo_is_replayed_by_itself_and_told_as_json(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["replay", "run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["recording"], said["system"]) == ("run", "paxos")
    assert said["target"] == "zoo:paxos"
    assert said["verdict"] == "unknown"
    assert [node["node"] for node in said["nodes"]] == ["p1", "p2", "p3"]
    assert said["network"]["as_declared"] is True
    assert (said["divergence"], said["unknown"], said["undecided"]) == (None, [], [])
    assert main(["show", said["trace"]]) == 0
    assert main(["replay", said["trace"]]) == 0


def test_a_window_and_its_file_can_be_chosen(capsys: pytest.CaptureFixture[str]):
    assert main(["replay", "run", "--window", "2:5", "--out", "part.wl"]) == 0
    assert (
        "trace  part.wl (steps 2 to 5; its step 1 is step 2)" in capsys.readouterr().out
    )
    assert main(["replay", "part.wl"]) == 0
    assert main(["replay", "part.wl", "--window", "1:2"]) == 2
    assert "--window is for recordings" in capsys.readouterr().err


def test_other_parameters_make_another_system(capsys: pytest.CaptureFixture[str]):
    assert main(["replay", "run", "-p", "size=4", "--no-trace"]) == 2
    assert "was recorded with other nodes" in capsys.readouterr().err


def test_parameters_that_are_not_those_of_the_recording_are_told_first(
    capsys: pytest.CaptureFixture[str],
):
    asked = ["replay", "run", "-p", "drops=2", "--no-trace"]
    main(asked)
    other = "recorded with other parameters: drops was not given, now it is 2"
    assert capsys.readouterr().out.splitlines()[1] == f"  {other}"
    main([*asked, "--json"])
    assert json.loads(capsys.readouterr().out)["parameters_changed"] == other
    main(["replay", "run", "--out", "run.wl"])
    assert "other parameters" not in capsys.readouterr().out
    main(["replay", "run.wl", "-p", "drops=2"])
    assert capsys.readouterr().out.splitlines()[1] == f"  {other}"
    main(["debug", "run.wl", "-p", "drops=2", "-c", "state"])
    assert other in "".join(capsys.readouterr())


def test_that_nobody_knows_the_parameters_is_told_where_it_went_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    made = open_system("zoo:macetransport", {"messages": "3"})
    made.origin = None  # as of one that a program has made by a call
    record(tmp_path / "made", made, seconds=20)
    words, unsaid = ["replay", "made", "zoo:macetransport"], "with which parameters"
    assert main([*words, "-p", "messages=3"]) in (0, 3)
    assert unsaid not in capsys.readouterr().out
    assert main([*words, "-p", "messages=3", "-p", "fragments=2"]) == 2
    assert unsaid in capsys.readouterr().out


def test_the_parameters_of_a_recording_are_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    record(tmp_path / "small", open_system("zoo:paxos", {"size": "2"}), seconds=5)
    assert main(["debug", "small", "-c", "info"]) == 0
    said = capsys.readouterr().err
    assert said.count("zoo:paxos is loaded with -p size=2, as small says") == 1
    assert said.count("is loaded with") == 1


def test_a_recording_is_shown_debugged_and_asked_and_no_file_is_written(
    capsys: pytest.CaptureFixture[str],
):
    for words, out in (
        (["debug", "run", "-c", "jump 3; state p1"], "p1"),
        (["query", "run", "SELECT count(*) AS n FROM steps", "--json"], '"rows"'),
        (["show", "run"], "the run"),
        (["show", "run", "--beside", "run"], "beside"),
    ):
        assert main(words) == 0
        said = capsys.readouterr()
        assert "note: run was replayed, steps 1 to 12; " in said.err
        assert "to keep them as a trace: worldline replay run\n" in said.err
        assert out in said.out
    assert [*Path().iterdir()] == [Path("run")]


@pytest.mark.parametrize(
    "words", [["minimize", "run"], ["check", "zoo:paxos", "--from", "run"]]
)
def test_what_goes_on_from_a_trace_says_how_a_recording_becomes_one(
    words: list[str], capsys: pytest.CaptureFixture[str]
):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "run is a recording, and no trace" in said
    assert "make a trace of it first: worldline replay run TARGET" in said


@pytest.mark.parametrize("target", ["mine.py", None])
@pytest.mark.parametrize(
    "words", [["query", "own", "FROM steps", "--csv"], ["show", "own", "--diagram"]]
)
def test_the_same_command_with_its_target_is_advised(
    words: list[str], target: str | None, capsys: pytest.CaptureFixture[str]
):
    system = open_system("zoo:paxos", {})
    system.origin = None if target is None else SystemOrigin(target, (), "")
    record(Path("own"), system, seconds=20, loss=0.2)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert shlex.join(["worldline", *words, "--target", target or "TARGET"]) in said
    assert main([*words, "--target", "zoo:paxos"]) == 0
    assert main(["replay", "own"]) == 2
    assert f"worldline replay own {target or 'TARGET'}" in capsys.readouterr().err


def test_a_recording_of_which_there_is_no_trace_is_not_opened(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    from worldline.runs.recording import replay

    monkeypatch.setattr(replay, "WHOLE", 10)
    assert main(["debug", "run", "-c", "info"]) == 2
    said = capsys.readouterr().err
    assert "violates nothing" in said
    assert "worldline replay run --window FIRST:LAST writes one" in said


def test_a_replay_begins_at_a_time(capsys: pytest.CaptureFixture[str]):
    record(Path("voted"), open_system("zoo:paxos", {}), seconds=20, every=0.02)
    # What was voted for before is in the checkpoints, as a ghost field.
    assert main(["replay", "voted", "--from", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown"] == []
    record(Path("saved"), open_system("zoo:abd", {}), seconds=20, every=0.02)
    # What was read and written before is in none.
    assert main(["replay", "saved", "--from", "0.1", "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["begins"] == 0.1
    assert said["unknown"] == ["linearizable"]
    with pytest.raises(SystemExit):
        main(["replay", "saved", "--from", "soon"])
    assert "'soon' is no number of seconds" in capsys.readouterr().err
    assert main(["replay", said["trace"], "--from", "1"]) == 2
    assert "--from is for recordings" in capsys.readouterr().err


def test_a_file_that_is_no_trace_is_not_written_over(
    capsys: pytest.CaptureFixture[str],
):
    Path("mine.py").write_text("print()")
    Path("folder").mkdir()
    for place in ("mine.py", "folder", ""):
        with pytest.raises(SystemExit) as ended:
            main(["replay", "run", "--out", place])
        assert ended.value.code == 2
        assert "worldline: error: argument --out: " in capsys.readouterr().err
    assert Path("mine.py").read_text() == "print()"


@pytest.mark.parametrize("option", [["--out", "x.wl"], ["--window", "1:2"]])
def test_no_trace_and_what_is_about_one_contradict_each_other(
    option: list[str], capsys: pytest.CaptureFixture[str]
):
    assert main(["replay", "run", "--no-trace", *option]) == 2
    assert "has no meaning with --no-trace" in capsys.readouterr().err


CLOCKS = """\
import worldline as wl
from tests.runs.recording import rounds

def system(few: int = 5):
    @wl.safety
    def few_at_a(view):
        return view[rounds.A].kept < few

    @wl.safety
    def few_at_b(view):
        return view[rounds.B].kept < few + 10

    return rounds.system(properties=[few_at_a, few_at_b])
"""

MORE = """\
import worldline as wl
from tests.runs.recording.rounds import C

@wl.safety
def few_at_c(view):
    return view[C].kept < 9
"""


def recorded_clocks() -> None:
    Path("clocks.py").write_text(CLOCKS)
    Path("more.py").write_text(MORE)
    record(Path("turns"), open_system("clocks.py", {}), seconds=40, rate=0.0)


def test_the_commands_that_are_printed_work(capsys: pytest.CaptureFixture[str]):
    recorded_clocks()
    asked = ["replay", "turns", "clocks.py", "--predicates", "more.py", "--json"]
    assert main([*asked, "--property", "few_at_c"]) == 1
    said = json.loads(capsys.readouterr().out)
    for command in (said["debug"], said["replay"]):
        words = shlex.split(command)
        assert words[0] == "worldline"
        more = ["-c", "status few_at_c"] if words[1] == "debug" else []
        assert main([*words[1:], *more]) in (0, 1)
    assert "few_at_c" in capsys.readouterr().out
    assert main([*asked, "--property", "many"]) == 2
    assert "no property 'many'" in capsys.readouterr().err


def test_a_source_that_has_changed_since_is_noted(capsys: pytest.CaptureFixture[str]):
    recorded_clocks()
    assert main(["replay", "turns", "clocks.py", "--no-trace"]) == 1
    assert "the source changed" not in capsys.readouterr().out
    Path("clocks.py").write_text(CLOCKS + "# more\n")
    assert main(["replay", "turns", "clocks.py", "--no-trace"]) == 1
    said = capsys.readouterr().out
    assert "note: the source changed since this was recorded" in said
    assert "note: compared are the messages that were received" in said
    assert main(["replay", "turns", "clocks.py", "--no-trace", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["source_changed"] is True


def test_a_block_that_is_there_twice_is_told_with_its_place(
    capsys: pytest.CaptureFixture[str],
):
    journal = Path("run/p2/1-0.wlj")
    blocks = raw_blocks(journal.read_bytes())
    before = len(MAGIC + b"".join(blocks[:3]))
    journal.write_bytes(MAGIC + b"".join([*blocks[:4], *blocks[3:]]))
    assert main(["replay", "run", "--no-trace"]) == 2
    assert capsys.readouterr().err == (
        f"worldline: error: run/p2/1-0.wlj is damaged at byte {before + len(blocks[3])}: "
        f"what stands there is a copy of what stands at byte {before}; put back what was "
        "there, or --partial goes on behind what is missing\n"
    )
    assert main(["replay", "run", "--no-trace", "--partial"]) == 3


def test_a_last_block_that_is_there_twice_is_a_torn_end(
    capsys: pytest.CaptureFixture[str],
):
    journal = Path("run/p2/1-0.wlj")
    *_, last = raw_blocks(journal.read_bytes())
    journal.write_bytes(journal.read_bytes() + last)
    assert main(["replay", "run", "--no-trace"]) == 0
    said = f"{len(last)} bytes at the end of its journal are torn"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("words", [["query", "made", "FROM steps"], ["show", "made"]])
def test_what_a_program_has_recorded_is_asked_with_parameters(
    words: list[str], capsys: pytest.CaptureFixture[str]
):
    made = open_system("zoo:paxos", {"size": "2"})
    made.origin = None  # as of one that a program has made by a call
    record(Path("made"), made, seconds=20)
    assert main([*words, "--target", "zoo:paxos"]) == 2
    assert "was recorded with other nodes" in capsys.readouterr().err
    assert main([*words, "--target", "zoo:paxos", "-p", "size=2"]) == 0
    again = capsys.readouterr().err.strip().rpartition("to keep them as a trace: ")[2]
    assert again == "worldline replay made zoo:paxos -p size=2"
    assert main(again.split()[1:]) in (0, 3)


def test_a_replay_with_other_parameters_is_offered_with_them(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["debug", "run", "-p", "drops=2", "-c", "info"]) in (0, 2)
    assert "worldline replay run -p drops=2\n" in capsys.readouterr().err
