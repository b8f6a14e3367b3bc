"""TLS: who is let in, and what is said of files that are wrong."""

from __future__ import annotations

import shutil
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from tests.deploy.certificates import authority, expired, issued, key_of, openssl

from worldline.deploy.tls import TlsFiles, client_context, peer_names, server_context
from worldline.model.errors import UsageError

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl makes the certificates"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def a(folder: Path) -> TlsFiles:
    return issued(authority(folder), "a")


@pytest.fixture(scope="module")
def b(a: TlsFiles) -> TlsFiles:
    return issued(a.ca, "b", also=("b2", "b/.."))


def connect(client: ssl.SSLContext, server: ssl.SSLContext) -> list[ssl.SSLObject]:
    """Both ends of a connection in memory, once both are content, or an error of one."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(down, up, server_side=False),
        server.wrap_bio(up, down, server_side=True),
    ]
    waiting = ends
    for _ in range(10):
        waiting = [end for end in waiting if not shakes(end)]
    assert waiting == []
    for end in ends:  # in TLS 1.3 the client learns of a refusal when it reads
        with pytest.raises(ssl.SSLWantReadError):
            end.read(1)
    return ends


def shakes(end: ssl.SSLObject) -> bool:
    try:
        end.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def test_both_ends_know_the_names_of_the_other(a: TlsFiles, b: TlsFiles):
    client, server = connect(client_context(a), server_context(b))
    assert peer_names(client) == {"b", "b2", "b/.."}
    assert peer_names(server) == {"a"}


def test_a_certificate_of_another_authority_is_refused_by_either_end(
    a: TlsFiles, folder: Path
):
    other = issued(authority(folder / "other"), "b")
    mixed = replace(other, ca=a.ca)  # it trusts a, but a does not trust it
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(client_context(a), server_context(mixed))
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(client_context(mixed), server_context(a))


def test_a_client_without_a_certificate_is_refused(a: TlsFiles):
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    nobody.check_hostname = False
    nobody.load_verify_locations(a.ca)
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        connect(nobody, server_context(a))


def test_an_expired_certificate_is_refused(a: TlsFiles, b: TlsFiles):
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        connect(client_context(a), server_context(expired(b)))


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_older_versions_than_1_2_are_refused(a: TlsFiles):
    old = client_context(a)
    old.set_ciphers("ALL:@SECLEVEL=0")  # else openssl itself would not try
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match=r"PROTOCOL|VERSION"):
        connect(old, server_context(a))


def test_the_name_of_the_machine_is_not_looked_at(a: TlsFiles, b: TlsFiles):
    assert not client_context(a).check_hostname
    assert client_context(a).verify_mode is ssl.CERT_REQUIRED
    assert server_context(b).verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize("which", ["cert", "key", "ca"])
def test_a_missing_file_is_named(a: TlsFiles, tmp_path: Path, which: str):
    gone = tmp_path / "gone.pem"
    with pytest.raises(UsageError, match=r"gone\.pem, which TLS needs: No such file"):
        server_context(replace(a, **{which: gone}))


@pytest.mark.parametrize("content", ["", "hello\n", "-----BEGIN CERTIFICATE-----\n"])
@pytest.mark.parametrize("which", ["cert", "key", "ca"])
def test_a_file_that_is_something_else_is_refused(
    a: TlsFiles, tmp_path: Path, which: str, content: str
):
    other = tmp_path / "other.pem"
    other.write_text(content)
    with pytest.raises(UsageError, match=r"other\.pem") as caught:
        client_context(replace(a, **{which: other}))
    assert "in PEM" in caught.value.remedy


def test_the_key_of_another_certificate_is_refused(a: TlsFiles, b: TlsFiles):
    with pytest.raises(UsageError, match=r"b\.key is not the key of .*a\.pem"):
        server_context(replace(a, key=b.key))


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked(
    a: TlsFiles, tmp_path: Path
):
    locked = tmp_path / "locked.key"
    openssl("pkey", "-in", str(key_of(a.cert)), "-aes128", "-passout", "pass:x",
            "-out", str(locked))  # fmt: skip
    with pytest.raises(UsageError, match=r"locked\.key has a passphrase"):
        server_context(replace(a, key=locked))
