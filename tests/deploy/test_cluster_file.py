"""Clusters: read strictly, open to others only with protection, written for children."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import pytest

import worldline as wl
from worldline.deploy.cluster import Cluster, address_text, is_loopback
from worldline.deploy.cluster_file import cluster_of, read_cluster, write_cluster
from worldline.deploy.tls import TlsFiles

A, B = wl.ids("a", "b")
ODD, ODDER = wl.ids('o "d" d\\', "→\x7f")
SECRET = "0123456789abcdef0123456789abcdef"


@wl.message
class Hello:
    pass


@wl.node
class Idle:
    @wl.on(Hello)
    def hear(self, ctx, src, msg):
        pass


def system(network: str = "streams", nodes: tuple[wl.NodeId, ...] = (A, B)):
    made: dict[str, wl.Network] = {
        "streams": wl.streams(),
        "datagrams": wl.datagrams(),
        "both": wl.networks({Hello: wl.datagrams()}, otherwise=wl.streams()),
    }
    alike = {node: Idle() for node in nodes}
    return wl.System(alike, network=made[network], name="idle")


def written(folder: Path, text: str) -> Path:
    path = folder / "cluster.toml"
    path.write_text(text, "utf-8")
    return path


NODES = '[nodes]\na = "127.0.0.1:7001"\nb = "[::1]:7002"\n'


def test_it_has_an_address_of_each_node(tmp_path: Path):
    path = written(tmp_path, f'run = "monday"\nsecret = "{SECRET}"\n{NODES}')
    cluster = read_cluster(path, system())
    assert cluster.addresses == {A: ("127.0.0.1", 7001), B: ("::1", 7002)}
    assert (cluster.run, cluster.secret) == ("monday", SECRET.encode())
    assert (cluster.tls, cluster.insecure) == (None, False)


def test_files_are_looked_for_from_its_own_folder(tmp_path: Path):
    (tmp_path / "secret").write_bytes(b"\xff" * 40 + b"\r\n")
    for name in ("a.pem", "a.key", "ca.pem"):
        (tmp_path / name).touch()
    tls = '[tls]\ncert = "a.pem"\nkey = "a.key"\nca = "ca.pem"\n'
    path = written(tmp_path, f'secret_file = "secret"\n{NODES}{tls}')
    cluster = read_cluster(path, system())
    assert cluster.secret == b"\xff" * 40
    assert cluster.tls is not None
    assert cluster.tls.key == tmp_path / "a.key"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no [nodes]"),
        ("[nodes\n", "cluster.toml: "),
        ("nodes = 3", "has no [nodes]"),
        (f'colour = "red"\n{NODES}', "there is no key 'colour'"),
        ('[nodes]\na = "127.0.0.1:7001"', "has no address of b"),
        (f'{NODES}c = "127.0.0.1:7003"', "idle has no node 'c'"),
        (NODES.replace("7002", "0"), "the port of b is 0"),
        (NODES.replace("7002", "70000"), "the port of b is 70000"),
        (NODES.replace("7002", "-1"), "the address of b is '[::1]:-1'"),
        (NODES.replace("7002", "٧٠"), "the address of b is"),
        (NODES.replace("[::1]:", ""), "the address of b is '7002'"),
        (NODES.replace("[::1]", "::1"), "in brackets"),
        (NODES.replace("127.0.0.1", "[127.0.0.1]"), "in brackets"),
        (NODES.replace("127.0.0.1", "a b"), "the address of a is"),
        ("[nodes]\na = 7001\nb = 7002", "the address of a is 7001"),
        (NODES.replace("[::1]:7002", "127.0.0.1:7001"), "a and b have one address"),
        (f'secret = "short"\n{NODES}', "the secret has 5 bytes, and at least 32"),
        (f"secret = 3\n{NODES}", "the secret is no text"),
        (f'secret_file = "none"\n{NODES}', "secret_file is 'none', which is no file"),
        (f'secret = "{SECRET}"\nsecret_file = "x"\n{NODES}', "has both secret and"),
        (f'run = ""\n{NODES}', "run is ''"),
        (f"tls = 3\n{NODES}", "tls is no table"),
        (f'{NODES}[tls]\ncert = "cluster.toml"', "[tls] has no key, ca"),
        (f"{NODES}[tls]\npem = 1", "there is no key 'pem' in [tls]"),
        (f'{NODES}[tls]\ncert = ""\nkey = ""\nca = ""', "tls.cert is ''"),
    ],
)
def test_what_is_none_is_refused_with_the_place(tmp_path: Path, text: str, said: str):
    path = written(tmp_path, text)
    with pytest.raises(wl.InputError) as refused:
        read_cluster(path, system())
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert refused.value.remedy


def test_a_file_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(wl.InputError, match="No such file"):
        read_cluster(tmp_path / "missing.toml", system())
    with pytest.raises(wl.InputError, match="is no file"):
        read_cluster(tmp_path, system())
    (tmp_path / "b.toml").write_bytes(b"\xff")
    with pytest.raises(wl.InputError, match="utf-8"):
        read_cluster(tmp_path / "b.toml", system())
    with pytest.raises(wl.UsageError, match="is no cluster"):
        cluster_of(3, system())  # type: ignore[arg-type]


def open_to_others(**protected: object) -> Cluster:
    addresses = {A: ("127.0.0.1", 7001), B: ("10.0.0.1", 7002)}
    return Cluster(addresses=addresses, **protected)  # type: ignore[arg-type]


def test_an_address_that_others_reach_needs_protection():
    with pytest.raises(
        wl.UsageError, match=r"b listens at 10\.0\.0\.1:7002, where others"
    ):
        cluster_of(open_to_others(), system())
    cluster_of(open_to_others(secret=SECRET.encode()), system())
    cluster_of(open_to_others(insecure=True), system())


@pytest.mark.parametrize("network", ["datagrams", "both"])
def test_tls_protects_streams_alone(network: str):
    files = TlsFiles(cert=Path("a"), key=Path("b"), ca=Path("c"))
    cluster_of(open_to_others(tls=files), system("streams"))
    with pytest.raises(wl.UsageError, match="tls protects streams alone"):
        cluster_of(open_to_others(tls=files), system(network))


def test_a_name_may_mean_any_machine():
    assert is_loopback("127.9.9.9")
    assert is_loopback("::1")
    assert is_loopback("LOCALHOST")
    assert not is_loopback("localhost.example.org")
    assert not is_loopback("0.0.0.0")


def test_a_cluster_of_other_nodes_is_refused():
    with pytest.raises(wl.UsageError, match="has no address of b"):
        cluster_of(Cluster(addresses={A: ("::1", 1)}), system())
    three = Cluster.on_loopback(system(nodes=(A, B, ODD)))
    with pytest.raises(wl.UsageError, match='the cluster has o "d" d'):
        cluster_of(three, system())


def test_what_is_written_is_read_again_and_nobody_else_reads_it(tmp_path: Path):
    odd = system(nodes=(ODD, ODDER))
    cluster = dataclasses.replace(
        Cluster.on_loopback(odd, run='mon"day\n'), secret=b"\xfe" * 32
    )
    path = tmp_path / "cluster.toml"
    for _ in range(2):  # over an older one, too
        write_cluster(cluster, path)
    assert read_cluster(path, odd) == cluster
    modes = {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert modes == {0o600}


def test_addresses_are_written_as_they_are_read():
    assert address_text(("10.0.0.1", 7)) == "10.0.0.1:7"
    assert address_text(("fd00::1", 7)) == "[fd00::1]:7"
