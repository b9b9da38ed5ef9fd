"""Statements about all of a group: “All women …”, “Men never …”.

One expression finds them. It shows how a detector is written, not how a good one works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


class Generics:
    """Finds sentences that say of all of a group, or of none, that they are so."""

    says_all = re.compile(r"\b(?:all|every|always|never|no)\b", re.IGNORECASE)

    def detect(
        self, sentences: Sequence[str], words: Sequence[Sequence[tuple[int, int]]]
    ) -> list[float]:
        """Give 1 where a sentence names a group and says all or none, else 0."""
        return [
            float(bool(named) and self.says_all.search(sentence) is not None)
            for sentence, named in zip(sentences, words, strict=True)
        ]
