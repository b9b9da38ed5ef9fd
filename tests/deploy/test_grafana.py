"""The dashboards that are committed are those that the code makes."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"


def test_the_committed_dashboards_are_what_the_code_makes() -> None:
    made = runpy.run_path(str(FOLDER / "dashboards.py"))["dashboards"]()
    assert made == {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert len({json.loads(text)["uid"] for text in made.values()}) == len(made) == 4
