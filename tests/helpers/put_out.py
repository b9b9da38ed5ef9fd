"""What a run has put out, as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def rows(output: Path, *folders: str) -> list[dict[str, Any]]:
    """The rows of all Parquet files of some folders of an output (accepted), by name of a file."""
    paths = [
        path for each in folders or ("accepted",) for path in (output / each).glob("*.parquet")
    ]
    paths.sort(key=lambda path: path.name)
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def letters(output: Path) -> list[dict[str, Any]]:
    """All dead letters, in the order of the panes."""
    paths = sorted((output / "dead-letter").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]
