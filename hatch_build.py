"""Compiles the kernel when Worldline is installed; where that fails, goes on without.

The kernel is a plain C library that is linked with no Python, so one wheel for each
platform serves every version: ``py3-none-<platform>``, else ``py3-none-any``. An
editable installation has the kernel beside its source.

Three settings are read from the environment: ``CXX`` is the compiler to try first;
``WORLDLINE_KERNEL=skip`` builds no kernel; ``WORLDLINE_KERNEL=<one of TARGETS>`` builds
it for that platform, with Zig, and then a failure is an error.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

PACKAGE = "worldline/engine/native"

# Baseline processors only: -march=native measured no gain, and a wheel may move.
FLAGS = ("-O3", "-std=c++17", "-shared", "-pthread")

# A C++ compiler in a wheel. It is 100 MB, so it is asked for only where no other works.
ZIG = "ziglang>=0.17,<0.18"

# Wheels are built for these platforms; the values are Zig's names for them.
TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_13_0_x86_64": "x86_64-macos.13.0",
    "macosx_13_0_arm64": "aarch64-macos.13.0",
    "win_amd64": "x86_64-windows-gnu",
}

# As much of the language and its library as tells whether a compiler works at all.
_PROBE = '#include <vector>\nextern "C" int* probe() { return new int; }\n'


class CannotCompile(Exception):
    """A compiler made no library; the message is one line."""


class KernelBuildHook(BuildHookInterface[Any]):
    """Adds the compiled kernel to a wheel, or puts it beside its source."""

    def dependencies(self) -> list[str]:
        """Ask for Zig where the kernel is wanted and no compiler works."""
        wish = _wish()
        if wish == "skip":
            return []
        return [ZIG] if wish or (_zig_name() and not _has_compiler()) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel and say where it goes; `finalize` cleans up."""
        wish = _wish()
        if wish == "skip":
            return
        tag = wish or _host_tag()
        name = f"kernel-{tag}{_suffix(tag)}"
        native = Path(self.root, "src", PACKAGE)
        self._scratch = tempfile.TemporaryDirectory(prefix="worldline-")
        library = Path(self._scratch.name, name)
        in_place = native / name if version == "editable" else None
        try:
            compile_kernel(native / "kernel.cpp", library, wish)
        except CannotCompile as error:
            if wish:
                raise
            if in_place:
                # An older kernel may disagree with the source around it.
                in_place.unlink(missing_ok=True)
            self.app.display_warning(f"Worldline goes without its kernel: {error}")
            return
        if in_place:
            _put(library, in_place)
        else:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{tag}"
            build_data["force_include"][str(library)] = f"{PACKAGE}/{name}"

    def finalize(self, *_: object) -> None:
        """Remove what `initialize` left behind."""
        if hasattr(self, "_scratch"):
            self._scratch.cleanup()


def compile_kernel(source: Path, library: Path, wish: str = "") -> None:
    """Compile with the first compiler that can.

    Parameters
    ----------
    source, library
        What is read, and what is written.
    wish
        One of `TARGETS`, or empty for a library that loads on this machine.

    Raises
    ------
    CannotCompile
        If there is no compiler, or none succeeded.
    """
    reasons = []
    compilers = [] if wish else list(_system_compilers())
    for compiler in [*compilers, *_zig(wish)]:
        try:
            _compile(compiler, source, library)
            if not wish:
                _load(library)
        except CannotCompile as error:
            reasons.append(str(error))
        else:
            return
    raise CannotCompile("; ".join(reasons) or "there is no C++ compiler")


def _wish() -> str:
    wish = os.environ.get("WORLDLINE_KERNEL", "")
    if wish not in {"", "skip", *TARGETS}:
        known = ", ".join(["skip", *TARGETS])
        raise SystemExit(f"WORLDLINE_KERNEL is {wish!r}, expected one of: {known}")
    return wish


def _host_tag() -> str:
    """Return this machine in a wheel's name; on Linux without a promise about libc."""
    linux = sys.platform == "linux"
    return next(t for t in platform_tags() if t.startswith("linux") or not linux)


def _suffix(tag: str) -> str:
    """Return the suffix of a library; `worldline.engine.native.library` knows it too."""
    return {"win": ".dll", "mac": ".dylib"}.get(tag[:3], ".so")


def _zig_name() -> str | None:
    """Return Zig's name of this machine, if wheels of Zig and of ours fit it.

    It is never left to Zig, which would compile for this very processor.
    """
    if "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
        return None
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    names = (n for n in TARGETS.values() if n.startswith(f"{machine}-{system}"))
    return next(names, None)


def _system_compilers() -> Iterator[list[str]]:
    """Yield the command lines of the compilers that this machine may have."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        words = shlex.split(name or "", posix=os.name == "posix")
        found = shutil.which(words[0]) if words else None
        if found:
            line = [str(Path(found).absolute()), *words[1:]]
            yield line if sys.platform == "win32" else [*line, "-fPIC"]


def _zig(wish: str) -> Iterator[list[str]]:
    """Yield the command line of Zig, if it is installed."""
    target = TARGETS[wish] if wish else _zig_name()
    if target and importlib.util.find_spec("ziglang"):
        zig = [sys.executable, "-m", "ziglang", "c++", "-target", target, "-s"]
        yield zig if "windows" in target else [*zig, "-fPIC"]


def _has_compiler() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(_PROBE, "utf-8")
        for compiler in _system_compilers():
            try:
                _compile(compiler, source, source.with_suffix(".lib"))
            except CannotCompile:
                continue
            return True
    return False


def _compile(compiler: Sequence[str], source: Path, library: Path) -> None:
    name = "zig" if "ziglang" in compiler else Path(compiler[0]).name
    # Zig compiles the C++ library too, 50 MB that an installation should not leave.
    cache = {"ZIG_GLOBAL_CACHE_DIR": str(library.with_name("zig"))}
    library.unlink(missing_ok=True)
    # Run where it writes: macOS libraries contain the path that they were written to.
    command = [*compiler, *FLAGS, str(source.absolute()), "-o", library.name]
    _run(command, name, cwd=library.parent, env={**cache, **os.environ})
    if not library.is_file():
        raise CannotCompile(f"{name} wrote no library")


def _load(library: Path) -> None:
    """Load a library in another process, which does not keep it open."""
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).wl_interface"
    _run([sys.executable, "-c", load, str(library)], f"loading {library.name}")


def _run(
    command: list[str],
    name: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> None:
    try:
        run = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise CannotCompile(f"{name}: {error}") from error
    if run.returncode:
        lines = run.stderr.decode("utf-8", "replace").strip().splitlines()
        errors = [line.strip() for line in lines if "error" in line.lower()]
        said = (errors or lines[:1] or [f"exited with {run.returncode}"])[0]
        raise CannotCompile(f"{name}: {said}")


def _put(library: Path, place: Path) -> None:
    """Put a library in its place at once: another process may have the old one open."""
    new = place.with_name(f"{place.name}.new")
    shutil.copyfile(library, new)
    new.replace(place)
