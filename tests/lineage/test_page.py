"""The page of ``--report``: sound HTML, alone in the world, and nobody's text is markup."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.cli.command import run

from worldline.lineage.explaining.svg import written

HTML = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3"}
TEXT = {"p", "ul", "li", "div", "span", "pre"}
DRAWN = {"svg", "g", "line", "path", "rect", "circle", "text"}
ELSEWHERE = {"src", "href", "id", "style", "data", "action"}
HURTFUL = "<script>alert('1')</script>&amp;"
PROGRAM = """\
node("<b>a</b>", "b&c")@1;
say("<b>a</b>", "{payload}")@1;
node(N, M)@next :- node(N, M);
say(N, P)@next :- say(N, P);
heard(M, P)@async :- say(N, P), node(N, M);
heard(N, P)@next :- heard(N, P), notin say(N, "</svg>");
pre(N, P) :- say(N, P);
post(N, P) :- say(N, P), heard(_, P);
unread(N, P) :- heard(N, P), notin say(N, "<img src=x>");
"""
SYSTEM = """\
import worldline as wl

A, B = wl.ids("<i>a", "b")

@wl.message
class Hello:
    text: str

@wl.node
class Member:
    heard: str = ""

    @wl.call
    def begin(self, ctx):
        ctx.send(B, Hello("<script>alert(1)</script>"))

    @wl.on(Hello)
    def hear(self, ctx, src, msg):
        self.heard = msg.text

@wl.liveness
def b_has_heard(view):
    return view[B].heard != ""

def system():
    return wl.System(
        {A: Member(), B: Member()},
        workload=[wl.script(A, [Member.begin])],
        network=wl.datagrams(loss=True),
        properties=[b_has_heard],
        name="<script>hello</script>",
    )
"""


class Read(HTMLParser):
    """A page as a browser reads it, without mending anything."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]], *, is_void: bool = False
    ) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names)
        self.kinds[tag] += 1
        self.attributes |= set(names)
        if tag != "meta" and not is_void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in DRAWN  # nothing else may end where it begins
        self.handle_starttag(tag, attrs, is_void=True)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def text(self, tag: str) -> str:
        return "\n".join(self.texts.get(tag, []))


def page_of(*arguments: str) -> str:
    assert run("faults", *arguments, "--report", "out").status in {0, 1, 3}
    return Path("out/index.html").read_text("utf-8")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hurtful() -> Read:
    Path("<u>.ded").write_text(PROGRAM.format(payload=HURTFUL), "utf-8")
    return Read(page_of("<u>.ded", "--eot", "3", "--eff", "3", "--all"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("zoo:simple-deliv", "--all"),
        ("zoo:redun-deliv", "--eot", "5"),
        ("zoo:classic-deliv", "--max-seconds", "0.000001"),
        pytest.param(("zoo:kafka", "--harden", "--frontier"), marks=pytest.mark.slow),
    ],
)
def test_a_page_is_sound_and_needs_nothing_else(arguments: tuple[str, ...]):
    page = page_of(*arguments)
    read = Read(page)
    assert set(read.kinds) <= HTML | TEXT | DRAWN
    assert read.attributes & ELSEWHERE == set()
    assert not any(name.startswith("on") for name in read.attributes)
    assert "url(" not in page
    assert "@import" not in page
    assert page.count("http") == page.count('xmlns="http://www.w3.org/2000/svg"')
    assert read.kinds["h1"] == 1
    name = arguments[0].removeprefix("zoo:")
    (title,) = read.texts["title"][:1]
    assert title in {f"{name}: {said}" for said in ("VIOLATED", "HOLDS", "UNKNOWN")}


def test_no_text_of_a_program_is_markup():
    read = hurtful()
    assert set(read.kinds) <= HTML | TEXT | DRAWN
    assert read.attributes & ELSEWHERE == set()


def test_the_text_of_a_program_is_shown_as_it_is():
    read = hurtful()
    # What is too long for its box is whole where one points at it.
    assert f'post("<b>a</b>", "{HURTFUL}")@3' in read.text("title")
    assert 'post("<b>a</b>", "<scr…ipt>&amp;")@3' in read.text("text")
    assert {"<b>a</b>", "b&c"} <= set(read.texts["text"])
    assert "in round 1, what <b>a</b> sends to b&c is lost" in read.text("li")
    assert "<u>: VIOLATED" in read.text("pre")
    said = " ".join(read.text("pre").split())
    assert 'unread(N, P) :- heard(N, P), notin say(N, "<img src=x>");' in said


def test_no_text_of_a_python_system_is_markup():
    Path("hello.py").write_text(SYSTEM, "utf-8")
    read = Read(page_of("hello.py", "--eot", "3", "--eff", "3", "--crashes", "0"))
    assert set(read.kinds) <= HTML | TEXT | DRAWN
    assert "in round 1, what <i>a sends to b is lost" in read.text("li")
    assert "<script>alert(1)</script>" in read.text("title")
    assert "<script>hello</script>: VIOLATED" in read.text("title")


def test_a_page_tells_what_was_asked_for_beside_the_verdict():
    read = Read(page_of("zoo:simple-deliv", "--harden", "--frontier"))
    assert "bcast(Node, X1)@next :- bcast(Node, X1);" in read.text("pre")
    assert "frontier: " in read.text("pre")


@pytest.mark.slow
def test_falsifiers_that_are_not_drawn_are_counted_and_listed():
    arguments = ("faults", "zoo:2pc", "--eff", "3", "--crashes", "1", "--all")
    result = run(*arguments, "--report", "out")
    read = Read(Path("out/index.html").read_text("utf-8"))
    drawn = sum(text.startswith("Falsifier ") for text in read.texts["h2"])
    (left,) = (text for text in read.texts["p"] if "more falsifiers" in text)
    listed = read.text("pre").count(". it fails if")
    assert left == f"And {listed - drawn} more falsifiers, listed below."
    assert drawn == 10
    written_runs = {one.name.split("_")[1] for one in Path("out").glob("run_*")}
    assert written_runs == {str(number) for number in range(11)}
    assert f"out has the first 10 of {listed} falsifiers" in result.out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#x27;"),
        ("tab\tline\n", "tab\tline\n"),
        ("\x00\x1b\x7f\x85\r", "\ufffd" * 5),
        ("\ud800\uffff é 😀", "\ufffd\ufffd é 😀"),
    ],
)
def test_any_text_can_be_written(text: str, shown: str):
    assert written(text) == shown
    assert written(text).encode("utf-8")
