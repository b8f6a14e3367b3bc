"""docs/guide/in-ci.md has every option of the plugin; tests/guide plays the page."""

from __future__ import annotations

import re

from tests.test_readme import ROOT

PAGE = ROOT / "docs" / "guide" / "in-ci.md"
PLUGIN = ROOT / "src" / "pytest_worldline.py"


def test_the_page_names_every_option_of_the_plugin():
    options = set(re.findall(r'"(--worldline-[\w-]+)",$', PLUGIN.read_text(), re.M))
    assert len(options) == 4
    assert options == set(re.findall(r"`(--worldline-[\w-]+)", PAGE.read_text("utf-8")))
