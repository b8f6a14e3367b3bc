"""The text that a monitor reads."""

from __future__ import annotations

import re

from tests.deploy.control.asking import counted

from worldline.deploy.control.metrics import metrics

LINE = re.compile(r'worldline_[a-z_]+\{node="(?:[^"\\\n]|\\["\\n])*"\} [0-9.]+')


def test_each_count_of_each_node_is_a_line():
    text = metrics([(counted("a", sent=3), True), (counted("b", failure="x"), False)])
    lines = text.splitlines()
    assert 'worldline_sent_total{node="a"} 3' in lines
    assert 'worldline_sent_total{node="b"} 0' in lines
    assert 'worldline_cpu_seconds_total{node="a"} 0.25' in lines
    assert [line for line in lines if line.startswith("worldline_up{")] == [
        'worldline_up{node="a"} 1',
        'worldline_up{node="b"} 0',
    ]
    assert [line for line in lines if line.startswith("worldline_failed{")] == [
        'worldline_failed{node="a"} 0',
        'worldline_failed{node="b"} 1',
    ]


def test_each_metric_is_described_once_before_its_values():
    lines = metrics([(counted("a"), True)]).splitlines()
    assert len(lines) % 3 == 0
    for said, kind, value in zip(*[iter(lines)] * 3, strict=True):
        name = said.split()[2]
        assert re.fullmatch(rf"# HELP {name} [A-Z].*\.", said)
        assert kind.split()[:3] == ["#", "TYPE", name]
        assert kind.endswith("counter" if name.endswith("_total") else "gauge")
        assert value.startswith(f"{name}{{")


def test_any_name_of_a_node_is_a_label():
    text = metrics([(counted('a"\\\nb'), True), (counted("\ud800é"), True)])
    lines = [line for line in text.splitlines() if line[0] != "#"]
    assert all(LINE.fullmatch(line) for line in lines)
    assert r'worldline_up{node="a\"\\\nb"} 1' in lines
    assert 'worldline_up{node="?é"} 1' in lines
    text.encode()


def test_no_nodes_have_no_counts():
    assert all(line.startswith("#") for line in metrics([]).splitlines())
