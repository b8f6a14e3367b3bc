"""What a reader of a report sees first: the cause, and a run that fits the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.lineage.chain import chain, redundant

import worldline as wl
from worldline.lineage.explaining.lines import WIDTH

MOST_LINES = 50


def told(target: Any, **options: Any) -> list[str]:
    """Return the report on a target that breaks, which has to fit a screen."""
    report = wl.find_faults(target, traces=False, **options)
    assert report.verdict is wl.Verdict.VIOLATED
    lines = str(report).splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > WIDTH] == []
    return lines


def test_who_lacks_what_comes_first_then_what_follows_from_it():
    lines = told("zoo:retry-deliv")
    assert lines[1:4] == [
        "  b never gets log(data): a→b is lost in 1, and a has crashed from 2 on",
        "    so missing(b, data) holds",
        "    so (c, data) is owed, and missing",
    ]
    assert lines[-12:] == [
        "",
        "      a       b       c",
        "  1   o───────x───────●      log(data)",
        "  2   X       │       │      crash; not sent: log(data)",
        "",
        "     o sends   ● received   x lost   X crash",
        "",
        "without faults, each of these is enough for (c, data):",
        "  in 1 a→b (lost), a→c",
        "  in 1 a→b (lost); in 2 a→c (not sent: a has crashed)",
        "  in 1 a→b (lost); in 3 a→c (not sent: a has crashed)",
        "  and 6 more",
    ]


def test_where_several_things_come_together_the_way_goes_down_to_the_faults():
    assert told("zoo:kafka")[1:6] == [
        "  (C, data) is owed, and missing: b→Z and c→Z are lost in 1, and a has crashed",
        "    from 5 on",
        "    because b and c never get stored(data), and a has crashed from 5 on",
        "    because a never gets in_sync(b) and in_sync(c)",
        "    because Z never gets replica(b) and replica(c): b→Z and c→Z are lost in 1",
    ]


def test_what_is_lacked_for_a_while_is_not_said_to_be_lacked_at_the_end(
    tmp_path: Path,
):
    program = tmp_path / "passed-on.ded"
    program.write_text(
        'peer("a", "b")@1; peer("a", "c")@1; peer("b", "a")@1; peer("c", "b")@1;\n'
        'init("a", "x")@1; peer(N, M)@next :- peer(N, M);\n'
        "has(N, P) :- init(N, P); has(M, P)@async :- has(N, P), peer(N, M);\n"
        'pre("ok", P) :- init(_, P)@1; post("ok", P) :- has("a", P), has("b", P);\n'
    )
    lines = told(program, eot=3, eff=2, crashes=0)
    assert lines[1:3] == [
        "  (ok, x) is owed, and missing: a→b is lost in 1",
        "    because a lacks has(x), and b lacks has(x) in 2: a→b is lost in 1",
    ]


@pytest.mark.slow
def test_a_row_that_must_not_be_there_is_traced_to_what_was_missing():
    """The lost abort shows only beside the run in which it arrives."""
    assert told("zoo:3pc")[3:9] == [
        "    because C, a, b and d have abort(tx)",
        "    because C has missing_ack(tx) in 5",
        "    because C never gets ack(a, tx): a has crashed from 3 on",
        "    besides, b and d have commit(tx)",
        "    because d lacks abort(tx) in 7: C→d is lost in 6",
        "  scope: nodes C,a,b,d, rounds 1..9, losses at send times 1..6, up to 1 crashes",
    ]


def test_what_crashes_silence_is_followed_to_a_locked_agent():
    assert told("zoo:2pc")[1:6] == [
        "  C never gets vote(a, tx, yes): a has crashed from 1 on",
        "    so C has missing_vote(tx) in 3",
        "    so C, a, b and d never get commit(tx)",
        "    so C, a, b and d never have decided(tx)",
        "    so (C, tx) is owed, and missing",
    ]


def test_ten_nodes_fit_a_screen_and_goals_alike_are_one(tmp_path: Path):
    program = tmp_path / "redun.ded"
    program.write_text(redundant(), "utf-8")
    lines = told(str(program), eot=3, eff=2, crashes=1)
    assert lines[3].endswith(" and 7 more are owed, and missing")
    assert "      a   b   c   d   e   f   g   h   i   j" in lines


def test_the_field_that_broke_its_writer_and_the_lost_message_are_named():
    lines = told(chain(), eot=8, eff=6, crashes=0)
    assert lines[1:5] == [
        "  n5 never gets Write from n4: n4→n5 is lost in 4",
        "    so n5.stored is set(), and nothing wrote it; without faults it is {1},",
        "      written in 5 by Write from n4",
        "    so all_store_what_the_head_has is false after round 8",
    ]


def test_fields_that_are_alike_are_told_together_and_nodes_asked_in_turn():
    assert told("zoo:replication", parameters={"minimum": "1"})[3:8] == [
        "    because a has crashed from 5 on",
        "    because b.stored and c.stored are False, and nothing wrote them; without",
        "      faults they are True, written in 4 by Store from a",
        "    because b and c never get Store from a",
        "    because Z never gets Register from b and c: b→Z and c→Z are lost in 1",
    ]


RING = """next("a","b")@1; next("b","c")@1; next("c","a")@1; token("a", 1)@1;
next(N,M)@next :- next(N,M); been(N)@next :- been(N);
token(M, X + 1)@async :- token(N, X), next(N, M);
been(N) :- token(N, _);
pre(N) :- next(N,_), notin crash(N,N,_); post(N) :- been(N);"""


def test_of_rows_that_follow_from_each_other_the_first_that_is_cut_off_is_named(
    tmp_path: Path,
):
    path = tmp_path / "ring.ded"
    path.write_text(RING, encoding="utf-8")
    lines = told(str(path), eot=8, eff=3, crashes=0)
    assert lines[1:3] == [
        "  b never gets token(2): a→b is lost in 1",
        "    so b and c never have been",
    ]


READ = """copy("r","x")@1; copy("r","y")@1; copy(N,M)@next :- copy(N,M);
ask("r")@1; stored("y", 7)@1; stored(N,V)@next :- stored(N,V);
read(M,N)@async :- ask(N), copy(N,M);
got(N,M,V)@async :- read(M,N), stored(M,V);
none(N,M)@async :- read(M,N), notin stored(M,_);
got(N,M,V)@next :- got(N,M,V); none(N,M)@next :- none(N,M);
from(N,M) :- got(N,M,_); from(N,M) :- none(N,M);
replies(N,count<M>) :- from(N,M);
result(N,V) :- replies(N,K), K >= 1, got(N,_,V);
pre(7) :- from("r","x"); post(V) :- result("r",V);"""


def test_what_another_row_stands_in_for_is_no_cause(tmp_path: Path):
    """One reply is enough here, so that there are not two explains nothing."""
    path = tmp_path / "read.ded"
    path.write_text(READ, encoding="utf-8")
    assert told(str(path), eot=4, eff=2, crashes=0)[1:5] == [
        "  y never gets read(r): r→y is lost in 1",
        "    so r never gets got(y, 7)",
        "    so there is no result(r, 7)",
        "    so (7) is owed, and missing",
    ]


def test_of_several_falsifiers_each_says_what_it_leads_to():
    lines = told("zoo:simple-deliv", all=True)
    assert "    then b never gets log(data)" in lines
    assert "    then c never gets log(data)" in lines


def test_a_handler_that_fails_is_the_cause():
    lines = told(failing(), eot=4, eff=3, crashes=0)
    assert lines[1:3] == [
        "  b gets no Ping from a up to 3: a→b is lost in 1",
        "    so a handler fails in round 3: RuntimeError: nothing heard",
    ]


def test_json_has_the_cause_of_each_falsifier():
    (causes,) = wl.find_faults("zoo:simple-deliv", traces=False).to_json()["causes"]
    assert causes == [
        {
            "goals": ["(c, data)"],
            "line": "b never gets log(data): a→b is lost in 1",
            "because": [
                "so missing(b, data) holds",
                "so (c, data) is owed, and missing",
            ],
            "nodes": ["b", "a"],
        }
    ]


@wl.message
class Ping:
    pass


@wl.node
class Impatient:
    """Fails unless it has heard a ping by its second round."""

    other: wl.NodeId
    heard: bool = False

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Ping())
        ctx.set_timer(Impatient.check, after=2.0)

    @wl.on(Ping)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.heard = True

    @wl.timer
    def check(self, ctx: wl.Context) -> None:
        if not self.heard:
            raise RuntimeError("nothing heard")


@wl.safety
def nothing_is_promised(view: wl.View) -> bool:
    return True


def failing() -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Impatient(other=b), b: Impatient(other=a)},
        network=wl.datagrams(loss=True),
        properties=[nothing_is_promised],
        name="impatient",
    )
