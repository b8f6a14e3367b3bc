"""No argument list, however wrong, ends in a traceback, a hang, or silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import COUNTER, run
from tests.hostile.answers import answered
from tests.hostile.arguments import arguments
from tests.shares import share

EVERY_RUN = 100
NIGHTLY = 5_000
STEP = 250
SENT = """\
link("a", "b")@1; start("a", 7)@1;
got(N, X)@next :- got(N, X);
got(N, X) :- start(N, X);
got(M, X)@async :- start(N, X), link(N, M);
pre(N, X) :- got(N, X);
post(N, X) :- got(N, X), got("b", X);
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "here" / "and" / "there"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    furnish()


def furnish() -> None:
    """Put into the current folder what argument lists name."""
    Path("counter.py").write_text(COUNTER)
    Path("sent.ded").write_text(SENT)
    Path("empty.py").touch()
    Path("broken.py").write_text("def system(:\n")
    Path("empty.wl").touch()
    Path("empty.ded").touch()
    Path("latin.ded").write_bytes(b"// \xe9\n")
    Path("folder").mkdir()
    Path("folder.ded").mkdir()
    assert run("check", "counter.py", "--out", "bad.wl").status == 1


def ask(seed: int) -> None:
    given = arguments(seed)
    try:
        answered(*given)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, EVERY_RUN, 20), only=[20]))
def test_some_argument_lists_are_answered(first: int):
    for seed in range(first, first + 20):
        ask(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(EVERY_RUN, NIGHTLY, STEP))
def test_five_thousand_argument_lists_are_answered(first: int):
    for seed in range(first, min(first + STEP, NIGHTLY)):
        ask(seed)
