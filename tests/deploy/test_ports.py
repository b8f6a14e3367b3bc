"""Ports for nodes: nobody has them, and the kernel gives them to nobody."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import worldline as wl
from worldline.deploy import ports
from worldline.deploy.ports import free_ports, is_free, kernels_range

HOST = "127.0.0.1"


def test_they_are_distinct_free_and_none_of_the_kernels():
    found = free_ports(HOST, 20)
    low, high = kernels_range()
    assert len(set(found)) == 20
    assert [port for port in found if low <= port <= high] == []
    assert all(is_free(HOST, port) for port in found)


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_port_that_somebody_has_in_one_way_is_not_free(kind: socket.SocketKind):
    (port,) = free_ports(HOST, 1)
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind((HOST, port))
        assert not is_free(HOST, port)


def test_where_the_kernel_has_nearly_all_others_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = tmp_path / "range"
    said.write_text("2000\t65535\n")
    monkeypatch.setattr(ports, "_RANGE", said)
    assert max(free_ports(HOST, 3)) < 2000


def test_where_the_kernel_does_not_say_the_usual_range_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ports, "_RANGE", tmp_path / "missing")
    assert kernels_range() == (32_768, 60_999)


def test_too_few_ports_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "is_free", lambda host, port: port % 20_000 == 0)
    with pytest.raises(wl.UsageError, match="has 1 free ports, and 3 nodes need one"):
        free_ports(HOST, 3)
