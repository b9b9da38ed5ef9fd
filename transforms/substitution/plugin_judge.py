"""Judges the exchanges of a document by a plug-in of the group evenflow.judges.

The part has `judge(text, exchanges)`: the document's text and E exchanges, each a list of changes
(start, end, what stands there then) in order. It gives E probabilities that the document is right
with that exchange alone, 0 to 1; None where it cannot say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenflow.schemas.plugins import JUDGES, PluginTextError, load
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.judges import Asked, Judged


class PluginJudge:
    """Judges by a plug-in; an exchange of which it gives no probability is refused."""

    def __init__(self, name: str):
        self._plugin = load(JUDGES, name)

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        """Judge exchanges, see `judges.ExchangeJudge`."""
        for text, own, asked in documents:
            changes = [
                [(each.start, each.end, each.replacement) for each in own[n].edits[target]]
                for n, target in asked
            ]
            chances, reason = self._chances(text, changes)
            yield [
                Judged(0.0, reason, (n,)) if chance is None else Judged(chance, "", (n,))
                for (n, _), chance in zip(asked, chances, strict=True)
            ]

    def _chances(
        self, text: str, changes: list[list[tuple[int, int, str]]]
    ) -> tuple[list[float | None], str]:
        """The probabilities of exchanges, and why one may have none."""
        if not changes:
            return [], ""
        try:
            part = self._plugin.part
            return self._plugin.chances(
                len(changes), lambda: part.judge(text, changes)
            ), sets.SILENT
        except PluginTextError:  # an odd text must not stop a stream
            return [None] * len(changes), sets.FAILED
