"""Modules of sources that a test has made."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded(text: str, path: Path, *, stays: bool = False) -> ModuleType:
    """Return a module of a source, which goes into a file.

    Parameters
    ----------
    stays
        Whether it can be imported afterwards, by its name.
    """
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        if not stays:
            del sys.modules[path.stem]
    return module
