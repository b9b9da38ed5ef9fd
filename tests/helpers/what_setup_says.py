"""What setup.py tells setuptools."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
import setuptools
from places import ROOT


def told() -> dict[str, Any]:
    """The arguments of `setup`."""
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(setuptools, "setup", found.update)
        runpy.run_path("setup.py")
    return found
