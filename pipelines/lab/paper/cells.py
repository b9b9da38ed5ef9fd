"""A cell of an experiment: an arm with a seed, and the folder that says whether it is finished."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEASURED = "measured.json"  # in a cell's folder: it is finished


@dataclass(frozen=True)
class Cell:
    """An arm with a seed; random arms are drawn twice in a pilot."""

    arm: str
    seed: int
    folder: Path
    draw: int = 0

    @property
    def model(self) -> Path:
        """Folder of what was trained."""
        return self.folder / "model"

    @property
    def items(self) -> Path:
        """Folder of the answers, item by item."""
        return self.folder / "benchmark" / "items"

    @property
    def finished(self) -> bool:
        """Whether it was measured."""
        return (self.folder / MEASURED).exists()

    @property
    def figures(self) -> Any:
        """What was measured. Raises OSError if it is not finished."""
        return json.loads((self.folder / MEASURED).read_text(encoding="utf-8"))
