"""What tests of the example packages share."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_packages import install


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package that a file of tests is named after."""
    name = request.module.__name__.rpartition("test_")[2]
    return install(name, tmp_path_factory.mktemp(name))
