"""Certificates for tests, made by the openssl command."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from worldline.deploy.tls import TlsFiles


def authority(folder: Path, name: str = "ca") -> Path:
    """An authority's certificate; its key lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}.pem"
    _request(
        made, "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE"
    )
    return made


def issued(ca: Path, name: str, *, also: tuple[str, ...] = ()) -> TlsFiles:
    """A certificate for a node that an authority has signed, with its key."""
    made = ca.with_name(f"{name}.pem")
    alternatives = ",".join(f"DNS:{each}" for each in also)
    more = ("-addext", f"subjectAltName={alternatives}") if also else ()
    _request(made, "-subj", f"/CN={name}", "-CA", str(ca), "-CAkey", str(key_of(ca)),
             "-addext", "basicConstraints=CA:FALSE", *more)  # fmt: skip
    return TlsFiles(cert=made, key=key_of(made), ca=ca)


def expired(files: TlsFiles) -> TlsFiles:
    """A certificate for the same key whose end is past."""
    asked, made = (files.cert.with_name(f"expired.{end}") for end in ("csr", "pem"))
    openssl("req", "-new", "-key", str(files.key), "-subj", "/CN=x", "-out", str(asked))
    openssl("x509", "-req", "-in", str(asked), "-CA", str(files.ca), "-CAkey",
            str(key_of(files.ca)), "-days", "-1", "-out", str(made))  # fmt: skip
    return replace(files, cert=made)


def key_of(cert: Path) -> Path:
    return cert.with_suffix(".key")


def _request(made: Path, *more: str) -> None:
    openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-keyout", str(key_of(made)), "-out", str(made),
        *more,
    )  # fmt: skip


def openssl(*arguments: str) -> None:
    done = subprocess.run(
        ["openssl", *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
