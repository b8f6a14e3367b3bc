"""The grammar is data, and a wheel has to have it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ["pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"]


@pytest.mark.slow
def test_a_wheel_has_the_grammar(tmp_path: Path):
    for name in PROJECT:
        shutil.copy(ROOT / name, tmp_path)
    package = tmp_path / "src" / "worldline"
    shutil.copytree(ROOT / "src/worldline/dedalus", package / "dedalus")
    for name in ["__init__.py", "_version.py"]:
        shutil.copy(ROOT / "src/worldline" / name, package)
    call = "import hatchling.build as b; print(b.build_wheel('dist'))"
    run = subprocess.run(
        [sys.executable, "-c", call],
        cwd=tmp_path,
        env=os.environ | {"WORLDLINE_KERNEL": "skip"},
        capture_output=True,
        text=True,
        check=True,
    )
    with zipfile.ZipFile(tmp_path / "dist" / run.stdout.split()[-1]) as wheel:
        assert "worldline/dedalus/grammar.lark" in wheel.namelist()
