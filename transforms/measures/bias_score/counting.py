"""Counts the bias scores of documents: for panes, for a column, for what is set aside or copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.documents import leaning
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.measures.measure import Columns, Counter


class BiasCounter(Counter):
    """Scores the sentences of documents."""

    needs_sentences = True

    def __init__(self, config: Config):
        self._config, self._own = config, config.bias_score
        self._signal = signal.of(config)
        self._column = leaning(self._own.attribute).name
        self.copies = config.swaps(self._own.attribute)

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Score documents: `sums` as records.BiasSums has them, `words` as `BiasScorer.words`.

        Columns get the documents' scores.
        """
        done = self._signal.sums(BETWEEN.join(piece.texts), piece.begins, piece.starts)
        if columns is not None:
            scores = done.documents
            if self._own.fields:
                scores = self._scores(found, piece.first, len(piece.texts))
            columns.setdefault(self._column, []).extend(scores)
        return {"sums": done.figures, "words": done.words}

    def aside(self, found: Documents) -> tuple[dict[int, str], Columns]:
        """In mode subtract the documents with a high score."""
        if self._own.mode != "subtract":
            return {}, {}
        scores = self._scores(found, 0, len(found.texts))
        limit = self._signal.threshold
        high = {
            number: f"bias score {score:.4f}, above {limit:.4f}"
            for number, score in enumerate(scores)
            if score is not None and limit is not None and self._signal.is_high(score)
        }
        return high, {self._column: [each for n, each in enumerate(scores) if n not in high]}

    def is_due(self, columns: Columns, number: int) -> bool:
        """In mode augment, whether a document's score is high."""
        return self.copies and self._signal.is_high(columns[self._column][number])

    def _scores(self, found: Documents, first: int, number: int) -> list[float | None]:
        """The scores of some documents: of each the largest of its texts' scores."""
        own, texts = self._own.fields, found.texts[first : first + number]
        columns: list[Sequence[Any]] = [
            values.slice(first, number).to_pylist()
            for each, values in found.fields.items()
            if each.name in own
        ]
        if not own or self._config.fields.column in own:
            columns.append(texts)
        rows = zip(*columns, strict=True) if columns else [()] * len(texts)
        return [self._signal.score([text for text in row if isinstance(text, str)]) for row in rows]
