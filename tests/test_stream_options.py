"""Options that are for files are refused with a topic, not ignored in silence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.mark.parametrize(("option", "value"), [("--workers", "2"), ("--pane-docs", "100")])
def test_what_is_for_files_is_refused_with_a_topic(call: Call, tmp_path: Path, option: str, value: str) -> None:
    output = tmp_path / "out"
    ended = call("run", "--kafka", "127.0.0.1:1", "--topic", "t", "--output", output, option, value)
    assert ended.status == 2 and f"'{option}'" in ended.err and "for files" in ended.err
    assert not output.exists()
