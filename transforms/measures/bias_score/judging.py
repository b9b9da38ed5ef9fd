"""How documents are counted and panes judged by the bias score; loaded where it is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.documents import leaning, summed
from evenflow.schemas.ledger import Score, Verdict
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.measures.bias_score.records import (
    BiasScore,
    BiasSummary,
    BiasSums,
    BiasWord,
)
from evenflow.transforms.measures.bias_score.score import FINE
from evenflow.transforms.measures.bias_score.summary import DIGITS, STEP, summarise
from evenflow.transforms.measures.measure import Columns, Counter, MeasureTotals
from evenflow.transforms.measures.verdict import Thresholds, decide
from evenflow.wordlists.loader import WordList

MOST_WORDS = 20  # words that the ledger keeps of a pane


def program(config: Config) -> str:
    """What scores come from."""
    own = signal.of(config)
    return repr((own.made_with, own.threshold))


def counter(config: Config, lists: Sequence[WordList]) -> BiasCounter:
    """What scores documents."""
    return BiasCounter(config)


def judge(
    config: Config,
    lists: Sequence[WordList],
    counted: Mapping[str, Any],
    totals: MeasureTotals | None,
) -> BiasScore:
    """Judge the next pane together with the last accepted ones (see `Measure.judge`)."""
    own = signal.of(config)
    judged = own.threshold is not None
    sums = BiasSums.model_validate(counted.get("sums", {}))

    def summary(*earlier: dict[str, Any]) -> BiasSummary:
        total = sums.model_dump()
        for each in earlier:
            total = summed(total, each)
        return summarise(BiasSums.model_validate(total), judged, config.gate.confidence)

    rolling = summary(*(totals.recent if totals is not None else ()))
    return BiasScore(
        attribute=config.bias_score.attribute,
        vectors=own.made_with["vectors"],
        threshold=own.threshold,
        sums=sums,
        pane=summary(),
        rolling=rolling,
        cumulative=summary(*([totals.sums] if totals is not None else ())),
        verdict=_verdict(config, rolling, totals.last.verdict if totals is not None else None),
        words=_words(counted, sums),
    )


def _words(counted: Mapping[str, Any], sums: BiasSums) -> list[BiasWord]:
    """The words that add most to the pane's scores."""
    whole = sums.total * STEP
    rows = [
        (each["a"], word, group, each["n"])
        for group, words in counted.get("words", {}).items()
        for word, each in words.items()
    ]
    most = sorted(rows, key=lambda row: (-row[0], row[1], row[2]))[:MOST_WORDS]
    return [
        BiasWord(word=word, group=group, count=count, share=round(added * FINE / whole, DIGITS))
        for added, word, group, count in most
        if whole
    ]


def _verdict(config: Config, rolling: BiasSummary, before: Verdict | None) -> Verdict:
    """The verdict on the rolling share of high scores."""
    own, above = config.bias_score, rolling.above
    if own.reference is None:
        return Verdict(state="not_judged", reason="there is no reference to judge by")
    share = Score(
        dr=above.value if above else None,
        corrected=None,
        low=above.low if above else None,
        high=above.high if above else None,
        mentions=rolling.sentences,
        documents=rolling.documents,
    )
    limits = Thresholds(own.warn, own.block, own.min_sentences, config.gate.hysteresis)
    name = f"rolling share of sentences above the reference's percentile {own.percentile}"
    found = decide(share, limits, before.state if before is not None else None, name, "sentence")
    if found.state == "block" and (doubt := signal.of(config).doubt):
        return Verdict(state="warn", reason=f"{found.reason}; not blocked: {doubt}")
    return found


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
