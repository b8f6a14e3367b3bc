"""``worldline simulate``: verdicts, seeds, weather, what is written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

LEASE = '''\
"""A lock whose lease is as long as the work: how late the grant comes decides."""
import worldline as wl

S, A, B = wl.ids("s", "a", "b")

@wl.message
class Ask: pass

@wl.message
class Grant: pass

@wl.node
class Server:
    holder: wl.NodeId | None = None

    @wl.on(Ask)
    def ask(self, ctx, src, msg):
        if self.holder is None:
            self.holder = src
            ctx.send(src, Grant())
            ctx.set_timer(Server.lease, after=1.0)

    @wl.timer
    def lease(self, ctx):
        self.holder = None

@wl.node
class Client:
    holds: bool = False

    @wl.call
    def want(self, ctx):
        ctx.send(S, Ask())

    @wl.on(Grant)
    def granted(self, ctx, src, msg):
        self.holds = True
        ctx.set_timer(Client.work, after=1.0)

    @wl.timer
    def work(self, ctx):
        self.holds = False

@wl.safety
def mutex(view):
    return not (view[A].holds and view[B].holds)

@wl.sometimes
def somebody_holds(view):
    return view[A].holds or view[B].holds

def system(network: str = "datagrams"):
    return wl.System(
        {S: Server(), A: Client(), B: Client()},
        network=getattr(wl, network)(),
        workload=[wl.whenever(Client.want)],
        properties=[mutex, somebody_holds],
        name="lease",
    )
'''

STORM = """\
[[weather]]
at = "1s"
crash = ["a", "b"]
[[weather]]
every = "2s"
restart = "a"
[[weather]]
at = 3
cut = "s"
[[weather]]
at = 4
heal = true
"""


LEAST = "73"
"""The least seed with which two clients hold the lease within two seconds."""


@pytest.fixture(autouse=True)
def _a_file_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lease.py").write_text(LEASE)
    (tmp_path / "storm.toml").write_text(STORM)
    monkeypatch.chdir(tmp_path)


def test_a_violation_is_a_trace_with_times_that_is_shown_and_replayed():
    result = run("simulate", "lease.py", "--seed", LEAST)
    assert result.status == 1
    assert result.out.startswith("lease: VIOLATED\n")
    assert "  (at 0 s)\n" in result.out
    assert "replay worldline replay worldline-out/lease-mutex.wl lease.py" in result.out
    replayed = run("replay", "worldline-out/lease-mutex.wl", "lease.py")
    assert (replayed.status, "VIOLATED mutex, reproduced" in replayed.out) == (1, True)
    minimized = run("minimize", "worldline-out/lease-mutex.wl", "lease.py")
    assert minimized.status == 1


def test_the_least_seed_is_reported_on_any_number_of_processes():
    report = {}
    for threads in ("1", "2"):
        options = ("--seeds", "100", "--seconds", "2", "--threads", threads)
        result = run("simulate", "lease.py", *options, "--out", "run.wl", "--json")
        told = json.loads(result.out)
        assert (result.status, told["verdict"]) == (1, "violated")
        for name in ("seconds", "events_per_second", "peak_memory"):
            del told[name]
        report[threads] = told, Path("run.wl").read_bytes()
    assert report["1"] == report["2"]
    told, _ = report["1"]
    assert (told["seed"], told["seeds"]) == (int(LEAST), int(LEAST) + 1)


def test_where_nothing_is_violated_nothing_is_proved():
    options = ("--latency", "constant 0ms", "--seconds", "5", "--json")
    result = run("simulate", "lease.py", "--property", "somebody_holds", *options)
    told = json.loads(result.out)
    assert (result.status, told["verdict"], told["bound"]) == (
        3,
        "unknown",
        "virtual seconds",
    )
    assert told["virtual_seconds"] == 5.0
    assert [(p["name"], p["verdict"]) for p in told["properties"]] == [
        ("somebody_holds", "holds")
    ]


def test_weather_and_loss_befall_a_run_as_they_say():
    options = ("--weather", "storm.toml", "--loss", "0.2", "--duplicate", "0.1")
    result = run(
        "simulate", "lease.py", "--property", "mutex", "--seeds", "30", *options
    )
    assert result.status == 1
    assert run("replay", "worldline-out/lease-mutex.wl", "lease.py").status == 1


def test_a_judgement_now_and_then_finds_what_lasts():
    result = run("simulate", "lease.py", "--seeds", "40", "--interval", "10ms")
    assert result.status == 2  # seconds are a number
    result = run("simulate", "lease.py", "--seeds", "300", "--interval", "0.01")
    assert result.status == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--latency", "fast"), "'fast' is no latency"),
        (("--latency", "constant 20"), "'20' is no duration; write it with its unit"),
        (("--interval", "1e-300"), "interval=1e-300 is less than 1e-06 seconds"),
        (("--weather", "every 0.000001ms heal"), "every = 0.000001ms is too often"),
        (("--weather", "at 20 heal"), "'20' is no duration"),
        (("--weather", "/dev/zero"), "/dev/zero is no file with weather"),
        (("--out", "a.csv", "--metrics", "./a.csv"), "out and metrics would both be"),
        (("--weather", "none.toml"), "none.toml: No such file"),
        (("-p", "network=streams", "--loss", "0.1"), "streams, has no drops"),
        (("-p", "network=message_set"), "in a message set nothing is ever over"),
    ],
)
def test_what_says_nothing_is_refused(options: tuple[str, ...], words: str):
    assert words in refusal(run("simulate", "lease.py", *options))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('at = 1\ncrash = "z"', "lease has no node 'z'"),
        ("at = 1", "is not understood"),
        ('crash = "a"', "is not understood"),
        ("every = 0\nheal = true", "every = 0 would never end"),
        ("at = 1\nloss = 3", "loss cannot be 3"),
        ("at = 'soon'\nheal = true", "'soon' is no duration"),
    ],
)
def test_weather_that_is_none_is_refused_with_its_entry(entry: str, words: str):
    Path("bad.toml").write_text(f"[[weather]]\n{entry}\n")
    said = refusal(run("simulate", "lease.py", "--weather", "bad.toml"))
    assert "bad.toml, entry 1: " in said
    assert words in said


def test_weather_on_the_command_line_is_that_of_a_file():
    Path("same.toml").write_text(
        '[[weather]]\nat = "1s"\ncrash = "any"\n[[weather]]\nat = 2\nrestart = "any"\n'
    )
    told = []
    for weather in ("same.toml", "at 1s crash any, at 2s restart any"):
        result = run("simulate", "lease.py", "--seeds", "300", "--weather", weather)
        told.append([line for line in result.out.splitlines() if "(at " in line])
    assert told[0] == told[1]
    assert sum("crash" in line for line in told[0]) == 1


LATENCIES = """
def far(src, dst, drawn):
    return 0.2 + drawn if src.name == "s" else 0.001

def raising(src, dst, drawn):
    raise ValueError("no idea")

def negative(src, dst, drawn):
    return -drawn - 1

def drawn_alone(drawn):
    return drawn

def without_end(src, dst, drawn):
    return 10**400

def renaming(src, dst, drawn):
    src.name = "z"
    return 0.1
"""


def test_a_function_says_how_long_messages_take():
    Path("far.py").write_text(LATENCIES)
    options = ("--seeds", "50", "--seconds", "5")
    late = run("simulate", "lease.py", "--latency", "far.py:far", *options)
    # A grant is as long under way, at least, as an ask takes that comes meanwhile.
    assert late.status == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raising", "the latency raised ValueError: no idea (far.py:6"),
        ("negative", "the latency (far.py:8) gives -1."),
        ("drawn_alone", "the latency has the parameters (drawn)"),
        ("without_end", "gives 1000"),
        ("renaming", "the id of node b is changed: its name is set"),
        ("missing", "missing"),
    ],
)
def test_a_function_that_gives_no_latency_is_refused(name: str, words: str):
    Path("far.py").write_text(LATENCIES)
    said = refusal(run("simulate", "lease.py", "--latency", f"far.py:{name}"))
    assert words in said


def test_links_of_limited_capacity_make_messages_late():
    options = ("--property", "somebody_holds", "--seconds", "8", "--json")
    reached = []
    for limit in ((), ("--uplink", "8bit"), ("--downlink", "8bit")):
        told = json.loads(run("simulate", "lease.py", *options, *limit).out)
        reached.append(told["properties"][0]["verdict"])
    # The two messages have more than eight bytes each.
    assert reached == ["holds", "unknown", "unknown"]
    assert "no capacity" in refusal(run("simulate", "lease.py", "--downlink", "0kB"))


def test_ctrl_c_prints_what_was_learned():
    Path("stopped.py").write_text(
        "import signal\n"
        + LEASE.replace(
            "        self.holder = None\n",
            "        self.holder = None\n        signal.raise_signal(signal.SIGINT)\n",
        )
    )
    options = ("--seeds", "5", "--threads", "1", "--latency", "constant 0ms")
    result = run("simulate", "stopped.py", *options, "--json")
    told = json.loads(result.out)
    assert (result.status, result.err) == (3, "")
    assert (told["verdict"], told["bound"]) == ("unknown", "interrupted")
    assert told["seeds"] == 1
    assert 0 < told["virtual_seconds"] < 60
    assert told["events"] >= 3


@pytest.mark.parametrize(
    ("option", "bound"), [("--max-memory", "memory"), ("--max-seconds", "seconds")]
)
def test_a_bound_that_is_hit_ends_the_runs(option: str, bound: str):
    options = ("--seconds", "1e9", "--property", "somebody_holds", "--json")
    result = run("simulate", "lease.py", *options, option, "1")
    told = json.loads(result.out)
    assert (result.status, told["bound"]) == (3, bound)
    assert told["events"] > 0


@pytest.mark.nightly
def test_a_handler_that_does_not_return_is_a_violation():
    endless = LEASE.replace(
        "self.holds = False\n\n@wl.safety", "while True: pass\n\n@wl.safety"
    )
    Path("endless.py").write_text(endless)
    result = run("simulate", "endless.py", "--latency", "constant 0ms")
    assert result.status == 1
    assert "divergence" in result.out
