"""Installing compiles the kernel, and nothing about the kernel stops an installation."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from worldline.engine.native import library

ROOT = Path(__file__).resolve().parents[3]
NATIVE = Path("src", "worldline", "engine", "native")
PROJECT = ["pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"]
NO_COMPILER = "Worldline goes without its kernel: there is no C++ compiler\n"
TINY_KERNEL = 'extern "C" int wl_interface() { return 1; }\n'

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
without_zig = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is not None, reason="Zig is installed"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Just enough of the project to build it, with a kernel that compiles at once."""
    project = tmp_path / "project"
    (project / NATIVE).mkdir(parents=True)
    for name in PROJECT:
        shutil.copy(ROOT / name, project)
    for name in ["__init__.py", "_version.py"]:
        shutil.copy(ROOT / "src/worldline" / name, project / "src/worldline")
    (project / NATIVE / "kernel.cpp").write_text(TINY_KERNEL, "utf-8")
    return project


def backend(
    project: Path, function: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Call a function of the build backend, as an installer does."""
    ours = {"CXX", "WORLDLINE_KERNEL"}
    clean = {k: v for k, v in os.environ.items() if k not in ours}
    call = "import sys, hatchling.build as b; print(getattr(b, sys.argv[1])"
    return subprocess.run(
        [sys.executable, "-c", f"{call}(*sys.argv[2:]))", function, *arguments],
        cwd=project,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def compiler(folder: Path, script: str) -> str:
    """Return a PATH on which the only compiler is a shell script."""
    folder.mkdir()
    path = folder / "c++"
    path.write_text(f"#!{shutil.which('sh')}\n{script}\n", "utf-8")
    path.chmod(0o755)
    return str(folder)


def packed(wheel: Path) -> list[str]:
    """What a wheel contains of the kernel."""
    with zipfile.ZipFile(wheel) as file:
        names = [Path(name).name for name in file.namelist()]
    return sorted(name for name in names if name.startswith("kernel"))


def built(project: Path, **environment: str) -> tuple[str, list[str], str]:
    """Build a wheel; return its tag, what it has of the kernel, and what was said."""
    run = backend(project, "build_wheel", "dist", **environment)
    assert run.returncode == 0, run.stderr
    name = run.stdout.strip()
    tag = name.removesuffix(".whl").partition("-py3-none-")[2]
    return tag, packed(project / "dist" / name), run.stderr


# --------------------------------------------------------------- without a compiler


@pytest.mark.slow
@without_zig
def test_without_a_compiler_the_wheel_is_pure_and_one_line_says_so(project: Path):
    assert built(project, PATH="") == ("any", ["kernel.cpp"], NO_COMPILER)


@pytest.mark.slow
@without_zig
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 1", "c++: exited with 1"),
        ("echo hm >&2; echo no licence >&2; exit 1", "c++: hm"),
        ("echo hm >&2; echo 'an error: x' >&2; exit 1", "c++: an error: x"),
        ("exit 0", "c++ wrote no library"),
    ],
)
def test_a_broken_compiler_is_as_good_as_none(
    project: Path, tmp_path: Path, script: str, reason: str
):
    path = compiler(tmp_path / "bin", script)
    tag, kernel, said = built(project, PATH=path)
    assert (tag, kernel) == ("any", ["kernel.cpp"])
    assert said == f"Worldline goes without its kernel: {reason}\n"


@pytest.mark.slow
@without_zig
def test_a_library_that_does_not_load_is_not_packed(project: Path, tmp_path: Path):
    writes = 'while [ "$1" != -o ]; do shift; done; echo garbage > "$2"'
    tag, kernel, said = built(project, PATH=compiler(tmp_path / "bin", writes))
    assert (tag, kernel) == ("any", ["kernel.cpp"])
    assert said.startswith("Worldline goes without its kernel: loading kernel-")
    assert said.count("\n") == 1


@pytest.mark.slow
@without_zig
def test_an_older_kernel_does_not_outlive_a_failed_build(project: Path):
    tags = "import hatch_build as h; t = h._host_tag(); print(f'kernel-{t}', end='')"
    name = subprocess.check_output([sys.executable, "-c", tags], cwd=ROOT, text=True)
    older = project / NATIVE / f"{name}{library.SUFFIX}"
    older.touch()
    run = backend(project, "build_editable", "dist", PATH="")
    assert (run.returncode, run.stderr) == (0, NO_COMPILER)
    assert not older.exists()


@pytest.mark.slow
def test_zig_is_asked_for_only_where_it_is_needed(project: Path, tmp_path: Path):
    def requires(**environment: str) -> str:
        run = backend(project, "get_requires_for_build_wheel", **environment)
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    broken = compiler(tmp_path / "bin", "exit 1")
    zig = requires(PATH="")
    assert "ziglang" in zig or "linux" not in sys.platform
    assert requires(PATH=broken) == zig
    assert requires(PATH="", WORLDLINE_KERNEL="skip") == "[]"
    assert "ziglang" in requires(WORLDLINE_KERNEL="win_amd64")
    if COMPILER:
        assert requires() == "[]"


@pytest.mark.slow
@without_zig
def test_a_platform_that_was_asked_for_must_be_built(project: Path):
    run = backend(project, "build_wheel", "dist", WORLDLINE_KERNEL="win_amd64")
    assert run.returncode != 0
    assert "there is no C++ compiler" in run.stderr


@pytest.mark.slow
def test_an_unknown_platform_is_refused(project: Path):
    run = backend(project, "build_wheel", "dist", WORLDLINE_KERNEL="amiga")
    assert run.returncode != 0
    assert "WORLDLINE_KERNEL is 'amiga', expected one of: skip, many" in run.stderr


# ------------------------------------------------------------------ with a compiler


@pytest.mark.slow
@needs_compiler
def test_a_wheel_has_the_kernel_and_its_platform(project: Path):
    tag, kernel, said = built(project)
    assert tag != "any"
    assert kernel == [f"kernel-{tag}{library.SUFFIX}", "kernel.cpp"]
    assert said == ""
    assert sorted(p.name for p in (project / NATIVE).iterdir()) == ["kernel.cpp"]


@pytest.mark.slow
@needs_compiler
def test_a_broken_compiler_is_passed_over(project: Path, tmp_path: Path):
    broken = compiler(tmp_path / "bin", "exit 1") + "/c++"
    assert built(project, CXX=f"{broken} -O1")[0] != "any"


@pytest.mark.slow
@needs_compiler
def test_skipping_builds_no_kernel(project: Path):
    assert built(project, WORLDLINE_KERNEL="skip") == ("any", ["kernel.cpp"], "")


@pytest.mark.nightly  # compiles the kernel; what `make venv` made is such an installation
@needs_compiler
def test_an_editable_installation_has_a_kernel_that_loads(project: Path):
    shutil.copy(ROOT / NATIVE / "kernel.cpp", project / NATIVE)
    shutil.copytree(ROOT / NATIVE / "kernel", project / NATIVE / "kernel")
    run = backend(project, "build_editable", "dist")
    assert (run.returncode, run.stderr) == (0, "")
    assert library.load(library.find(project / NATIVE)).wl_interface is not None
    assert "-any.whl" in run.stdout


@pytest.mark.slow
def test_an_sdist_has_the_source_and_nothing_compiled(project: Path):
    for suffix in (".so", ".dylib", ".dll"):
        (project / NATIVE / f"kernel-x{suffix}").touch()
    run = backend(project, "build_sdist", "dist")
    assert run.returncode == 0, run.stderr
    with tarfile.open(project / "dist" / run.stdout.strip()) as file:
        names = {Path(name).name for name in file.getnames()}
    assert {"kernel.cpp", "hatch_build.py"} <= names
    assert not any(name.startswith("kernel-") for name in names)


# ------------------------------------------------------------------- finding, loading


def test_of_several_kernels_the_newest_is_taken(tmp_path: Path):
    for age, name in enumerate(["kernel", "kernel-b", "kernel-a"]):
        path = tmp_path / f"{name}{library.SUFFIX}"
        path.touch()
        os.utime(path, (100 - age, 100 - age))
    assert library.find(tmp_path).name == f"kernel{library.SUFFIX}"


def test_a_kernel_that_was_not_built_is_missing(tmp_path: Path):
    (tmp_path / "kernel.cpp").touch()
    with pytest.raises(library.KernelMissing, match=r"not built; install .* compiler"):
        library.find(tmp_path)


@pytest.mark.parametrize("content", [None, b"", b"garbage", b"\x7fELF\x02\x01\x01"])
def test_a_kernel_that_cannot_be_loaded_is_missing(
    tmp_path: Path, content: bytes | None
):
    path = tmp_path / f"kernel{library.SUFFIX}"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(library.KernelMissing, match="cannot be loaded") as caught:
        library.load(path)
    assert path.name in str(caught.value)


def test_a_library_without_the_functions_is_missing():
    other = Path(str(importlib.import_module("zstandard.backend_c").__file__))
    with pytest.raises(
        library.KernelMissing, match=r"wl_interface.*; install Worldline"
    ):
        library.load(other)


def test_the_environment_names_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    library.library.cache_clear()
    try:
        nothing = tmp_path / "nothing"
        monkeypatch.setenv("WORLDLINE_KERNEL_LIBRARY", str(nothing))
        assert not library.available()
        assert str(nothing) in (library.why_not() or "")
    finally:
        library.library.cache_clear()
