"""Messages between the members of a Raft cluster, and from each to itself."""

from __future__ import annotations

import worldline as wl


@wl.message
class BeginElection:
    """To oneself, as one becomes a candidate: ask the others for their votes."""


@wl.message
class ElectedAsLeader:
    """To oneself, as one becomes the leader: let the others know."""


@wl.message
class RequestVote:
    """Vote for `candidate`; forwarded to oneself where the term is news.

    Attributes
    ----------
    last_term, last_index
        Of the last entry in the candidate's log; 0 if that is empty.
    """

    term: int
    candidate: wl.NodeId
    last_term: int
    last_index: int


@wl.message
class VoteCandidate:
    """You have my vote in this term."""

    term: int


@wl.message
class DeclineCandidate:
    """You do not have my vote; this is my term."""

    term: int


@wl.message
class AppendEntries:
    """I lead this term: after your entry at `prev_index`, append these words.

    Attributes
    ----------
    prev_term, prev_index
        Of the entry before `entries`, counted from 1; 0 if there is none.
    words_term, words
        A few entries, all of one term; none in a heartbeat.
    commit
        How many entries the leader knows to be committed.
    """

    term: int
    prev_term: int
    prev_index: int
    words_term: int
    words: tuple[str, ...]
    commit: int


@wl.message
class AppendSuccessful:
    """My log is like yours up to `last_index`."""

    term: int
    last_index: int


@wl.message
class AppendRejected:
    """My term is higher, or my log, of `last_index` entries, does not fit."""

    term: int
    last_index: int
