"""Letters with paths: what one node found is what another tries, and nothing else passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steer.steering.holders import FIRST, SECOND, SERVER, Grab, system

from worldline.model.errors import InputError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.steer.steering.handing import LARGEST, MARK, letter_of, path_of

SYSTEM = system()
PATH = KnownPath(
    "one_holder",
    (
        PathStep(Event(Kind.TIMER, FIRST, name="grab"), ()),
        PathStep(
            Event(Kind.DELIVER, SERVER, name="Grab", peer=FIRST, payload=Grab()),
            (),
            (0, 0),
        ),
        PathStep(Event(Kind.TIMER, SECOND, name="grab"), ()),
    ),
)


def test_a_path_comes_as_it_was_sent() -> None:
    letter = letter_of(PATH)
    assert letter is not None
    assert letter.startswith(MARK)
    assert path_of(SYSTEM, letter) == PATH


@given(st.binary(max_size=200))
def test_what_is_no_path_is_one_error(body: bytes) -> None:
    with pytest.raises(InputError):
        path_of(SYSTEM, MARK + body)


@given(st.data())
def test_a_mutated_letter_is_a_path_or_one_error(data: st.DataObject) -> None:
    letter = bytearray(letter_of(PATH) or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(1, len(letter) - 1))
        letter[at] = data.draw(st.integers(0, 255))
    try:
        path = path_of(SYSTEM, bytes(letter))
    except InputError:
        return
    assert isinstance(path, KnownPath)


def test_a_letter_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(InputError, match="too large"):
        path_of(SYSTEM, MARK + b"[" * LARGEST)
