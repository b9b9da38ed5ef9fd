"""Judges the bias score of panes: the share of sentences above a reference's percentile."""

from __future__ import annotations

from evenflow.gates.ledger.combine import add_bias
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.verdict import Thresholds, decide
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import BiasScore, BiasSummary, BiasSums, BiasWord, Score, Verdict
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.measures.bias_score.score import FINE
from evenflow.transforms.measures.bias_score.summary import DIGITS, STEP, summarise

MOST_WORDS = 20  # words that the ledger keeps of a pane


def judge(config: Config, figures: Figures, totals: Totals) -> BiasScore | None:
    """Judge the bias score of the next pane.

    Args:
        config: The run's configuration.
        figures: Figures of the pane.
        totals: Sums of the ledger so far.

    Returns:
        The ledger's record; None if the score is not computed.
    """
    if config.bias_score.mode == "off":
        return None
    own = signal.of(config)
    judged = own.threshold is not None
    sums, before = BiasSums.model_validate(figures.bias_score), totals.bias_score

    def summary(earlier: list[BiasSums]) -> BiasSummary:
        return summarise(add_bias(sums, *earlier), judged, config.gate.confidence)

    rolling = summary(totals.recent_bias)
    return BiasScore(
        attribute=config.bias_score.attribute,
        vectors=own.made_with["vectors"],
        threshold=own.threshold,
        sums=sums,
        pane=summary([]),
        rolling=rolling,
        cumulative=summary([before.sums] if before is not None else []),
        verdict=_verdict(config, rolling, before.last.verdict if before is not None else None),
        words=_words(figures, sums),
    )


def _words(figures: Figures, sums: BiasSums) -> list[BiasWord]:
    """The words that add most to the pane's scores."""
    whole = sums.total * STEP
    rows = [
        (each["a"], word, group, each["n"])
        for group, words in figures.bias_words.items()
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
        return Verdict(state="too few", reason="there is no reference to judge by")
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
    return decide(share, limits, before.state if before is not None else None, name, "sentence")
