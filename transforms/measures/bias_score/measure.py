"""The bias score as a measure: the share of sentences above a reference's percentile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from evenflow.schemas.alert_rule import MINUTE, Alert
from evenflow.schemas.config import Config
from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import Score, Verdict
from evenflow.schemas.words import counted as number_of
from evenflow.transforms.measures.bias_score import metrics, signal
from evenflow.transforms.measures.bias_score.counting import BiasCounter
from evenflow.transforms.measures.bias_score.records import (
    BiasScore,
    BiasSummary,
    BiasSums,
    BiasWord,
)
from evenflow.transforms.measures.bias_score.score import FINE
from evenflow.transforms.measures.bias_score.summary import DIGITS, STEP, summarise
from evenflow.transforms.measures.measure import Counter, Family, Measure, MeasureTotals
from evenflow.transforms.measures.verdict import Thresholds, decide
from evenflow.wordlists.loader import WordList

MOST_WORDS = 20  # words that the ledger keeps of a pane


class BiasScoreMeasure(Measure[BiasScore]):
    """The bias score."""

    name = "bias_score"
    title = "bias score"
    record = BiasScore
    off: ClassVar[Mapping[str, Any]] = {"mode": "off"}
    limits = ("warn", "block", "min_sentences")
    about_limits = (
        "Lower bound of the share of high scores from which a pane gets a warning, or is blocked."
    )
    alerts = (
        Alert(
            "BiasScoreHigh",
            'evenflow_bias_score_high_share_low{window="rolling"} >= ignoring (attribute, window,'
            ' level) group_left evenflow_bias_score_threshold{level="warn"}',
            10 * MINUTE,
            "warning",
            "{{ $labels.gate }}: many sentences lean to one {{ $labels.attribute }}",
            "At least {{ $value | humanizePercentage }} of the last panes' sentences score above"
            " the reference's percentile.",
        ),
    )
    template = "bias_score.html.j2"

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What scores documents; None if nothing does."""
        return None if config.bias_score.mode == "off" else BiasCounter(config)

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> BiasScore | None:
        """Judge the bias score of the next pane together with the last accepted ones."""
        if config.bias_score.mode == "off":
            return None
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

    def sums(self, record: BiasScore) -> dict[str, Any]:
        """The sums of the pane."""
        return record.sums.model_dump()

    def without_sums(self, record: BiasScore) -> BiasScore:
        """A record without the pane's sums."""
        return record.model_copy(update={"sums": BiasSums()})

    def store(self, data: dict[str, Any], totals: dict[str, Any] | None) -> None:
        """Put its sums among a checkpoint's keys."""
        kept = None if totals is None else {k: v for k, v in totals.items() if k != "recent"}
        data |= {"bias_score": kept, "recent_bias": totals["recent"] if totals else []}

    def restored(self, data: dict[str, Any]) -> MeasureTotals | None:
        """The sums from a checkpoint, whose keys are taken out."""
        recent, found = data.pop("recent_bias", []), data.pop("bias_score", None)
        return None if found is None else self.totals(**found, recent=recent)

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """The last record, the panes in each state, and sums of the run.

        They are the numbers of sentences without a known word, of documents that were set aside
        alone, and of all documents.
        """
        own = {"unknown": totals.sums["unknown"], "set_aside": aside, "documents": documents}
        return self.of_pane(self._own(totals)) | {"panes": totals.states, **own}

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """Mean and 95th percentile of all panes, and the rolling share of high scores."""
        whole, share = section["cumulative"], section["rolling"]["above"]
        if not whole["sentences"]:
            return ["bias score: no sentence with a known word"]
        lines = [
            f"bias score of {section['attribute']}: {number_of(whole['sentences'], 'sentence')},"
            f" mean {_estimate(whole['mean'])}, 95th percentile"
            f" {_estimate(whole['percentiles']['95'])}"
        ]
        if aside := section["set_aside"]:
            share_aside = f"{aside / section['documents']:.1%} of {section['documents']:,}"
            lines.append(f"set aside alone: {number_of(aside, 'document')}, {share_aside}")
        if share is not None:
            lines.append(
                f"above {section['threshold']:.4f}: {_estimate(share)} of the"
                f" {number_of(section['rolling']['sentences'], 'sentence')} of the rolling panes:"
                f" {section['verdict']['state']}"
            )
        return lines

    def of_pane(self, record: BiasScore) -> dict[str, Any]:
        """A record without the pane's sums."""
        return record.model_dump(exclude={"sums"})

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the metrics of the bias score."""
        last = None if totals is None else self._own(totals)
        return metrics.families(last, totals.sums["sentences"] if totals is not None else 0)

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """Thresholds of the share of high scores."""
        own = config.bias_score
        return {} if own.mode == "off" else {"warn": own.warn, "block": own.block}

    def program(self, config: Config) -> str | None:
        """What scores come from."""
        if config.bias_score.mode == "off":
            return None
        own = signal.of(config)
        return repr((own.made_with, own.threshold))


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
    found = decide(share, limits, before.state if before is not None else None, name, "sentence")
    if found.state == "block" and (doubt := signal.of(config).doubt):
        return Verdict(state="warn", reason=f"{found.reason}; not blocked: {doubt}")
    return found


def _estimate(figure: Mapping[str, float | None]) -> str:
    """A figure with its interval."""
    if figure["low"] is None:
        return f"{figure['value']:.4f}"
    return f"{figure['value']:.4f} [{figure['low']:.4f}, {figure['high']:.4f}]"
