"""The counts of a host's nodes as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worldline.deploy.counts import NodeCounts

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTERS = {
    "events": "Events that ran a handler, or were consumed without one.",
    "sent": "Messages that were sent.",
    "received": "Messages that were received.",
    "lost": "Messages that were sent into a broken or full way.",
    "refused": "Frames of strangers, and messages that a full buffer refused.",
    "malformed": "Frames that are none.",
    "control_bytes": "Bytes of control frames, both ways.",
    "journal_bytes": "Bytes written to the journal.",
    "cpu_seconds": "Processor time of the process, in seconds.",
    "incarnations": "Lives of the node so far.",
}
_GAUGES = {
    "up": "Whether the node is up.",
    "failed": "Whether a handler of the node has failed.",
    "journal_failed": "Whether the journal of the node could not be written.",
}


def metrics(counts: Iterable[tuple[NodeCounts, bool]]) -> str:
    """Return the counts in Prometheus' text format.

    Parameters
    ----------
    counts
        Of each node, and whether it is up.
    """
    return "".join(f"{line}\n" for line in _lines(list(counts)))


def _lines(counts: list[tuple[NodeCounts, bool]]) -> Iterator[str]:
    labels = [_label(each.node) for each, _ in counts]
    for name, said in _COUNTERS.items():
        yield from _head(f"{name}_total", said, "counter")
        for label, (each, _) in zip(labels, counts, strict=True):
            yield f"worldline_{name}_total{label} {getattr(each, name)}"
    for name, said in _GAUGES.items():
        yield from _head(name, said, "gauge")
        for label, (each, is_up) in zip(labels, counts, strict=True):
            yield f"worldline_{name}{label} {int(_is_so(name, each, is_up=is_up))}"


def _head(name: str, said: str, kind: str) -> Iterator[str]:
    yield f"# HELP worldline_{name} {said}"
    yield f"# TYPE worldline_{name} {kind}"


def _is_so(name: str, counts: NodeCounts, *, is_up: bool) -> bool:
    if name == "up":
        return is_up
    failure = counts.failure if name == "failed" else counts.journal_failure
    return failure is not None


def _label(node: str) -> str:
    text = node.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # What is no Unicode text would make the whole page unreadable.
    return f'{{node="{text.encode("utf-8", "replace").decode()}"}}'
