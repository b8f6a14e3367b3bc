"""A release says one version everywhere, and its artefacts are what their names say."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from hatch_build import TARGETS
from tests.test_readme import ROOT

import worldline

HEADING = re.compile(r"^## (.*)$", re.M)
RELEASE = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})")
KERNEL = "worldline/engine/native/kernel-win_amd64.dll"


def releases() -> list[tuple[str, str]]:
    """The versions and days in the changelog, the newest first."""
    first, *others = HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert first == "[Unreleased]"
    found = [RELEASE.fullmatch(heading) for heading in others]
    assert None not in found
    return [(match[1], match[2]) for match in found if match]


def test_the_newest_release_in_the_changelog_is_the_version():
    assert releases()[0][0] == worldline.__version__


def test_releases_stand_in_order_of_their_versions_and_days():
    def number(release: tuple[str, str]) -> tuple[list[int], str]:
        return [int(part) for part in release[0].split(".")], release[1]

    assert releases() == sorted(releases(), key=number, reverse=True)


def test_sections_of_the_changelog_have_the_agreed_names():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    named = set(re.findall(r"^### (.*)$", text, re.M))
    assert named <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_what_is_to_be_cited_is_the_newest_release():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    keys = dict(re.findall(r'^([\w-]+): *"?(.*?)"?$', text, re.M))
    assert (keys["version"], keys["date-released"]) == releases()[0]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(keys)


def test_wheels_are_made_for_five_platforms():
    systems = {
        (tag.split("_")[0], tag.endswith(("arm64", "aarch64"))) for tag in TARGETS
    }
    assert len(TARGETS) == 5
    assert systems == {
        *(("manylinux", False), ("manylinux", True)),
        *(("macosx", False), ("macosx", True)),
        ("win", False),
    }


@pytest.fixture(scope="module")
def installations() -> ModuleType:
    path = ROOT / "scripts" / "installations"
    spec = spec_from_loader(
        "installations", SourceFileLoader("installations", str(path))
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(
    folder: Path, tag: str, files: dict[str, bytes], altered: bytes = b""
) -> Path:
    """A wheel with some files, each as recorded, but for those that are altered."""
    record = "worldline-1.dist-info/RECORD"
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content + altered).digest())
        rows.append(f"{name},sha256={digest.decode().rstrip('=')},{len(content)}")
    path = folder / f"worldline-1-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
        packed.writestr(record, "\n".join([*rows, f"{record},,"]))
    return path


def test_a_wheel_that_is_what_it_says_is_passed(
    tmp_path: Path, installations: ModuleType
):
    installations.look_into(wheel(tmp_path, "win_amd64", {KERNEL: b"MZ..."}))
    installations.look_into(wheel(tmp_path, "any", {"worldline/__init__.py": b""}))


@pytest.mark.parametrize(
    ("tag", "files", "altered", "said"),
    [
        ("win_amd64", {KERNEL: b"\x7fELF"}, b"", "its kernel begins with"),
        ("win_amd64", {"worldline/__init__.py": b""}, b"", "its kernels are"),
        ("macosx_13_0_arm64", {KERNEL: b"MZ"}, b"", "its kernels are"),
        ("any", {KERNEL: b"MZ"}, b"", "a wheel for any platform has"),
        ("any", {"worldline/__init__.py": b""}, b"x", "is not as recorded"),
    ],
    ids=["format", "no kernel", "platform", "any", "record"],
)
def test_a_wheel_that_is_not_is_noticed(
    tmp_path: Path,
    installations: ModuleType,
    tag: str,
    files: dict[str, bytes],
    altered: bytes,
    said: str,
):
    with pytest.raises(installations.Unfit, match=said):
        installations.look_into(wheel(tmp_path, tag, files, altered))


def test_an_elf_file_for_another_processor_is_noticed(
    tmp_path: Path, installations: ModuleType
):
    tag = "manylinux_2_17_aarch64"
    kernel = b"\x7fELF\x02\x01" + bytes(12) + (62).to_bytes(2, "little")
    files = {f"worldline/engine/native/kernel-{tag}.so": kernel}
    with pytest.raises(installations.Unfit, match="for another processor"):
        installations.look_into(wheel(tmp_path, tag, files))


@pytest.mark.parametrize("script", ["installations", "wheels"])
def test_a_script_says_what_it_is_for(script: str):
    asked = [str(ROOT / "scripts" / script), "--help"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert f"scripts/{script}  " in said


@pytest.mark.parametrize(
    ("given", "said"),
    [("--foo", "unrecognized arguments"), ("foo.whl", "there is no file foo.whl")],
)
def test_what_is_no_artefact_is_refused(
    installations: ModuleType,
    capsys: pytest.CaptureFixture[str],
    given: str,
    said: str,
):
    with pytest.raises(SystemExit, match="2"):
        installations.main([given])
    assert said in capsys.readouterr().err


@pytest.mark.nightly
def test_the_sdist_and_a_wheel_from_it_can_be_installed_and_used(tmp_path: Path):
    environment = {k: v for k, v in os.environ.items() if k != "WORLDLINE_KERNEL"}
    environment["DIST"] = str(tmp_path)
    build = [str(ROOT / "scripts" / "wheels"), "skip"]
    subprocess.run(build, env=environment, check=True, capture_output=True)
    made = sorted(tmp_path.iterdir())
    assert len(made) == 2
    tried = [str(ROOT / "scripts" / "installations"), *map(str, made)]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("works here") == 2
