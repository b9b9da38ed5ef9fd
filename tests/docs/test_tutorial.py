"""The tutorial: its commands and code run in their order, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from parts import require
from places import DATA, ROOT
from printed import COMMAND, STEP, pattern

PAGE = (ROOT / "docs" / "pages" / "tutorial.md").read_text(encoding="utf-8")
READERS = "readers: run `.venv/bin/pip install polars duckdb datasets`"


def _run(line: str, folder: Path) -> str:
    """Both streams of a line of the shell."""
    done = subprocess.run(
        line.replace("evenflow ", f"{COMMAND} ", 1) if line.startswith("evenflow ") else line,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert done.returncode in (0, 3), f"{line}: {done.stderr}"
    return done.stdout + done.stderr


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data").symlink_to(DATA)
    monkeypatch.chdir(tmp_path)
    said, shown, names = "", 0, dict[str, Any]()
    left_out = False
    for step in STEP.finditer(PAGE):
        if step["name"]:
            (tmp_path / step["name"]).write_text(step["file"])
        elif step["commands"]:
            said = "".join(_run(line.strip(), tmp_path) for line in step["commands"].splitlines())
        elif step["code"]:
            left_out = "huggingface" in step["code"] and not find_spec("datasets")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec("" if left_out else step["code"], names)
            said = out.getvalue()
        elif not left_out:
            assert re.search(pattern(step["text"]), said), f"{step['text']}\nis not in\n{said}"
            shown += 1
    assert shown >= 8
    written = (tmp_path / "evenflow.yaml").read_text()
    [section] = re.findall(r"```yaml\n(  gender:.*?)```", PAGE, re.S)
    assert section in written
    require(READERS if left_out else None)
