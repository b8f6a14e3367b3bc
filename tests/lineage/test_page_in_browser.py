"""Pages in a browser, wide and narrow: nothing is cut off, and the cause comes first."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_S = 60.0
"""Seconds that a browser may take for one page."""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(BROWSER is None, reason="needs chromium (apt install chromium)"),
]

NODES = "abcdefghij"
REDUN = "\n".join(
    [
        *(f'peer("{n}", "{m}")@1;' for n in NODES for m in NODES if n != m),
        'say("a", "news")@1;',
        "peer(N, M)@next :- peer(N, M);",
        "has(N, P)@next :- has(N, P);",
        "lacks(M, P) :- has(N, P), peer(N, M), notin has(M, P);",
        "pre(N, P) :- has(N, P), notin say(N, P)@1, notin crash(N, N, _);",
        "post(N, P) :- has(N, P), notin lacks(_, P);",
        "has(N, P) :- say(N, P);",
        "has(M, P)@async :- say(N, P), peer(N, M);",
        "say(N, P)@next :- say(N, P);",
        "say(N, P)@next :- has(N, P);",
    ]
)
CHAIN = """\
import worldline as wl

NODES = wl.ids("head", "second", "third", "fourth", "tail")

@wl.message
class Update:
    number: int

@wl.message
class Reply:
    number: int

@wl.node
class Link:
    head: wl.NodeId
    follower: wl.NodeId | None
    log: tuple[int, ...] = ()
    acked: tuple[int, ...] = ()

    @wl.call
    def write(self, ctx, number):
        self.store(ctx, number)

    @wl.on(Update)
    def update(self, ctx, src, msg):
        self.store(ctx, msg.number)

    @wl.on(Reply)
    def reply(self, ctx, src, msg):
        self.acked = (*self.acked, msg.number)

    def store(self, ctx, number):
        self.log = (*self.log, number)
        if self.follower is None:
            ctx.send(self.head, Reply(number))
        else:
            ctx.send(self.follower, Update(number))

@wl.liveness
def both_are_acked(view):
    return len(view[NODES[0]].acked) == 2

def system():
    return wl.System(
        {n: Link(head=NODES[0], follower=f) for n, f in zip(NODES, [*NODES[1:], None])},
        workload=[wl.script(NODES[0], [wl.invoke(Link.write, n) for n in (1, 2)])],
        network=wl.datagrams(loss=True),
        properties=[both_are_acked],
        name="chain",
    )
"""
TARGETS = {
    "redun.ded": ("redun.ded", "--eot", "4", "--eff", "3", "--crashes", "1"),
    "kafka": ("zoo:kafka",),
    "chain": ("chain.py", "--eot", "9", "--eff", "6", "--crashes", "0"),
    "3pc": ("zoo:3pc",),
}

# Into a copy of a page, which has no script of its own.
MEASURE = """<script>
const page = document.scrollingElement;
const svgs = [...document.querySelectorAll("svg")];
const outside = (inner, outer) => inner.x < outer.x - 1 || inner.y < outer.y - 1 ||
  inner.x + inner.width > outer.x + outer.width + 1 ||
  inner.y + inner.height > outer.y + outer.height + 1;
const cut = svgs.flatMap(svg => {
  const box = svg.viewBox.baseVal;
  return [...svg.querySelectorAll("text, rect, circle")].filter(
    one => outside(one.getBBox(), box)).map(one => one.textContent || one.className.baseVal);
});
const beyond = svgs.flatMap(svg => [...svg.querySelectorAll("text.label")].filter(text => {
  const rect = text.parentNode.querySelector("rect").getBBox();
  return outside(text.getBBox(), rect);
}).map(text => text.textContent));
const told = document.createElement("pre");
told.id = "told";
told.textContent = JSON.stringify({
  width: innerWidth, scrollWidth: page.scrollWidth, drawings: svgs.length, cut, beyond,
  scrolled: [...document.querySelectorAll(".figure")].filter(
    one => one.scrollWidth > one.clientWidth + 1).length,
  out: [...document.querySelectorAll(".figure")].filter(
    one => one.getBoundingClientRect().right > innerWidth).length,
  causeEnds: document.querySelector(".cause").getBoundingClientRect().bottom,
  diagramBegins: document.querySelector("svg").getBoundingClientRect().top,
});
document.body.append(told);
</script>"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def measured(page: Path, width: int) -> Any:
    assert BROWSER is not None
    copy = page.with_name("measured.html")
    text = page.read_text("utf-8").replace("</body>", f"{MEASURE}</body>")
    copy.write_text(text, "utf-8")
    printed = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu"),
            *(f"--window-size={width},1000", "--dump-dom"),
            f"--user-data-dir={page.parent.resolve() / 'profile'}",
            copy.resolve().as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    told = re.search(r'<pre id="told">(.*?)</pre>', printed, re.S)
    assert told is not None
    return json.loads(unescape(told[1]))


@pytest.mark.parametrize("width", [1400, 500])
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_cut_off(name: str, width: int):
    Path("redun.ded").write_text(REDUN, "utf-8")
    Path("chain.py").write_text(CHAIN, "utf-8")
    assert run("faults", *TARGETS[name], "--report", "out").status == 1
    told = measured(Path("out/index.html"), width)
    assert told["width"] == width
    assert told["scrollWidth"] <= width
    assert (told["cut"], told["beyond"], told["out"]) == ([], [], 0)
    assert told["drawings"] >= 3
    # The cause stands on the first screen, and a drawing begins there.
    assert told["causeEnds"] < told["diagramBegins"] < 1000
    if width == 1400:
        assert told["scrolled"] == 0
