"""What the ledger holds of the bias score."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ConfigDict, Field

from evenflow.schemas.ledger import Entry, Measured
from evenflow.transforms.measures.measure import Family


class BiasSums(Entry):
    """Sums of the bias score, additive over documents.

    n_d, a_d and t_d are a document's number of scored sentences, of those above the threshold, and
    its sum of absolute scores, in transforms.measures.bias_score.summary.STEP.

    Attributes:
        documents: Number of documents with a scored sentence.
        unknown: Number of sentences without a known word, which have no score.
        above: Sum of a_d; 0 without a reference.
        groups: Sum of the sentences' scores towards each group, in the same unit.
        products: Sums of products: nn, na, nt, aa and tt.
        bins: Number of sentences by the bin of their absolute score.
    """

    documents: int = 0
    sentences: int = 0
    unknown: int = 0
    above: int = 0
    total: int = 0
    groups: dict[str, int] = Field(default_factory=dict[str, int])
    products: dict[str, int] = Field(default_factory=dict[str, int])
    bins: dict[str, int] = Field(default_factory=dict[str, int])


class Estimate(Entry):
    """A figure with its confidence interval."""

    value: float
    low: float | None = None
    high: float | None = None


class BiasSummary(Entry):
    """The bias score of some panes."""

    sentences: int
    documents: int
    mean: Estimate | None = None
    groups: dict[str, float] = Field(default_factory=dict[str, float])
    percentiles: dict[str, Estimate] = Field(default_factory=dict[str, Estimate])
    above: Estimate | None = None


class BiasWord(Entry):
    """A word and what it adds to the bias scores of a pane. The word is data, it is not escaped."""

    word: str
    group: str
    count: int
    share: float


class BiasScore(Measured):
    """The bias score of a pane."""

    model_config = ConfigDict(extra="forbid")

    attribute: str
    vectors: str
    threshold: float | None
    sums: BiasSums
    pane: BiasSummary
    rolling: BiasSummary
    cumulative: BiasSummary
    words: list[BiasWord] = Field(default_factory=list[BiasWord])

    def windows(self) -> dict[str, BiasSummary]:
        """The figures by window."""
        return {"pane": self.pane, "rolling": self.rolling, "cumulative": self.cumulative}


PLACE = ("attribute", "window")


def families(last: BiasScore | None, sentences: int) -> Iterator[Family]:
    """Yield the metrics of the bias score; without it they have no sample."""
    windows = (
        {(last.attribute, name): each for name, each in last.windows().items()} if last else {}
    )
    yield Family(
        "bias_score_sentences",
        "Sentences with a bias score.",
        ["attribute"],
        {(last.attribute,): sentences} if last else {},
        is_counter=True,
    )
    yield Family(
        "bias_score_mean",
        "Mean absolute bias score.",
        PLACE,
        {place: each.mean.value for place, each in windows.items() if each.mean is not None},
    )
    yield Family(
        "bias_score",
        "Percentiles of the absolute bias score.",
        [*PLACE, "percentile"],
        {
            (*place, percent): figure.value
            for place, each in windows.items()
            for percent, figure in each.percentiles.items()
        },
    )
    above = {place: each.above for place, each in windows.items() if each.above is not None}
    yield Family(
        "bias_score_high_share",
        "Share of sentences above the reference's percentile.",
        PLACE,
        {place: each.value for place, each in above.items()},
    )
    yield Family(
        "bias_score_high_share_low",
        "Lower bound of that share's interval, by which the gate judges.",
        PLACE,
        {place: each.low for place, each in above.items()},
    )
