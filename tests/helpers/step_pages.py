"""The lines to paste of the page “Steps in other tools”."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "steps.md"


def code_of(heading: str, language: str = "python") -> str:
    """The one block of code below a heading."""
    text = PAGE.read_text(encoding="utf-8")
    [part] = [each for each in re.split(r"^## ", text, flags=re.M) if each.startswith(heading)]
    [code] = re.findall(rf"```{language}\n(.+?)```", part, re.DOTALL)
    return code
