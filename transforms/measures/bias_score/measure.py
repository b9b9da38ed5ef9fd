"""The bias score as a measure: the share of sentences above a reference's percentile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from evenflow.schemas.config import Config
from evenflow.schemas.words import counted as number_of
from evenflow.schemas.words import estimate, score
from evenflow.transforms.measures.bias_score.records import BiasScore, BiasSums, families
from evenflow.transforms.measures.measure import Family, MeasureApart, MeasureTotals


class BiasScoreMeasure(MeasureApart[BiasScore]):
    """The bias score."""

    name = "bias_score"
    title = "bias score"
    record = BiasScore
    off: ClassVar[Mapping[str, Any]] = {"mode": "off"}
    limits = ("warn", "block", "min_sentences")
    about_limits = (
        "Lower bound of the share of high scores from which a pane gets a warning, or is blocked."
    )
    template = "bias_score.html.j2"
    parts = "evenflow.transforms.measures.bias_score.judging"

    def sums(self, record: BiasScore) -> dict[str, Any]:
        """The sums of the pane."""
        return record.sums.model_dump()

    def without_sums(self, record: BiasScore) -> BiasScore:
        """A record without the pane's sums."""
        return record.model_copy(update={"sums": BiasSums()})

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
            f" mean {estimate(**whole['mean'])}, 95th percentile"
            f" {estimate(**whole['percentiles']['95'])}"
        ]
        if aside := section["set_aside"]:
            share_aside = f"{aside / section['documents']:.1%} of {section['documents']:,}"
            lines.append(f"set aside alone: {number_of(aside, 'document')}, {share_aside}")
        if share is not None:
            lines.append(
                f"above {score(section['threshold'])}: {estimate(**share)} of the"
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
        return families(last, totals.sums["sentences"] if totals is not None else 0)

    def program(self, config: Config) -> str | None:
        """What scores come from."""
        return self.judging.program(config) if self.is_on(config) else None
