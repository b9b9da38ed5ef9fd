"""A judge of exchanges that leaves documents with a full name as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence


class Unnamed:
    """Takes an exchange for right where the document has no two capitalised words in a row."""

    full_name = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b")

    def judge(self, text: str, exchanges: Sequence[Sequence[tuple[int, int, str]]]) -> list[float]:
        """Give 0.1 for each exchange in a document with a full name, else 0.9."""
        chance = 0.1 if self.full_name.search(text) else 0.9
        return [chance] * len(exchanges)
