"""People who are named with a title: “Mrs. Dalloway” is a woman, “Mr. Darcy” is a man.

“Dr. Watson” is neither: a title that says nothing of gender is no mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


class TitledPeople:
    """Finds people by their title and name."""

    groups = ("women", "men")
    titles = re.compile(
        r"\b(?:(Mrs|Ms|Miss|Lady|Dame)|Mr|Sir|Lord)\b\.? [^\W\d_][\w'’-]*", re.UNICODE
    )

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find start, end and group of each person, in the text's order."""
        for match in self.titles.finditer(text):
            yield match.start(), match.end(), self.groups[0 if match[1] else 1]
