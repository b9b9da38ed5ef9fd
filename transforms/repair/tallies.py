"""Counts the substitutions of a pane: how many, the most frequent, and an example of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.substitution.sets import Edit, apply, within

MOST = 20  # of the most frequent substitutions that the ledger keeps
SUMS = ("changed", "sentences", "documents", "copies")
AROUND = 70  # characters on each side of an example's first word


@dataclass
class SubstitutionCounts:
    """Sums over documents, and the first example of each substitution that was added.

    A substitution is a text and what replaces it, both in lower case, and the target group.
    """

    changed: int = 0
    sentences: int = 0
    documents: int = 0
    copies: int = 0
    uncopied: Counter[str] = field(default_factory=Counter[str])
    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str, str], dict[str, str]] = field(default_factory=dict)

    def add(
        self, identity: str, text: str, made: Sequence[Change], edits: Sequence[Edit], is_copy: bool
    ) -> None:
        """Add a document's changes of an attribute."""
        self.changed += len(made)
        self.sentences += len({place for each in made for place in each.proposed.sentences})
        self.documents += 1
        self.copies += is_copy
        for each in made:
            assert each.target is not None
            own = each.proposed.edits[each.target]
            for mention in each.proposed.mentions:
                over = (one for one in own if one.start < mention.end and mention.start < one.end)
                edit = next(over, None)
                if edit is None:
                    continue
                key = (text[edit.start : edit.end].lower(), edit.replacement.lower(), each.target)
                self.counts[key] = self.counts.get(key, 0) + 1
                if key not in self.examples:
                    self.examples[key] = {"id": identity, **_example(text, edit, edits)}

    def summary(self) -> dict[str, Any]:
        """The sums and the most frequent substitutions, as in ledger.Repair."""
        often = sorted(self.counts, key=lambda key: (-self.counts[key], key))[:MOST]
        return {
            **{name: getattr(self, name) for name in SUMS},
            "uncopied": dict(sorted(self.uncopied.items())),
            "substitutions": [
                {"said": said, "instead": instead, "target": target}
                | {"count": self.counts[said, instead, target]}
                | self.examples[said, instead, target]
                for said, instead, target in often
            ],
        }


def _example(text: str, edit: Edit, edits: Sequence[Edit]) -> dict[str, str]:
    """A stretch of the text around an edit, before and after all edits in it."""
    start, end = max(0, edit.start - AROUND), min(len(text), edit.end + AROUND)
    for other in edits:  # no edit is cut in two
        if other.start < start < other.end:
            start = other.start
        if other.start < end < other.end:
            end = other.end
    before = text[start:end]
    return {"before": before, "after": apply(before, within(edits, start, end))}
