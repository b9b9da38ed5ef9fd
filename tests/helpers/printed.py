"""What a page shows of a command's output, compared with the output."""

from __future__ import annotations

import re
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("evenflow"))
# A file to save, commands, code, or what the last of them printed
STEP = re.compile(
    r"Save this as `(?P<name>[\w.]+)`:\n\n```\w+\n(?P<file>.*?)```"
    r"|\n\n(?P<commands>(?:    \S[^\n]*\n)+)"
    r"|```python\n(?P<code>.*?)```"
    r"|```text\n(?P<text>.*?)```",
    re.S,
)
ANY = "…"  # in a printed output: anything; alone on a line: any lines


def pattern(output: str) -> str:
    """A printed output as an expression; how lines are wrapped does not count."""
    return r"\s+".join(re.escape(word).replace(ANY, r"[\s\S]*?") for word in output.split())
