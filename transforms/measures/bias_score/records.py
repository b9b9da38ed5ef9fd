"""What the ledger holds of the bias score."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from evenflow.schemas.ledger import Entry, Measured


class BiasSums(Entry):
    """Sums of the bias score, additive over documents.

    n_d, a_d and t_d are a document's number of scored sentences, of those above the threshold, and
    its sum of absolute scores, in transforms.measures.bias_score.summary.STEP.

    Attributes:
        documents: Number of documents with a scored sentence.
        sentences: Sum of n_d.
        unknown: Number of sentences without a known word, which have no score.
        behind: Number of words behind the context of an encoder that gives the vectors.
        above: Sum of a_d; 0 without a reference.
        total: Sum of t_d.
        groups: Sum of the sentences' scores towards each group, in the same unit.
        products: Sums of products: nn, na, nt, aa and tt.
        bins: Number of sentences by the bin of their absolute score.
    """

    documents: int = 0
    sentences: int = 0
    unknown: int = 0
    behind: int = 0
    above: int = 0
    total: int = 0
    groups: dict[str, int] = Field(default_factory=dict[str, int])
    products: dict[str, int] = Field(default_factory=dict[str, int])
    bins: dict[str, int] = Field(default_factory=dict[str, int])


class Estimate(Entry):
    """A figure with its confidence interval.

    Attributes:
        value: The figure.
        low: Lower bound of the interval; null if there is none.
        high: Upper bound of the interval; null if there is none.
    """

    value: float
    low: float | None = None
    high: float | None = None


class BiasSummary(Entry):
    """The bias score of some panes.

    Attributes:
        sentences: Number of scored sentences.
        documents: Number of documents with one.
        mean: Mean of the absolute scores; null without a sentence.
        groups: Mean score towards each group.
        percentiles: Percentiles of the absolute scores, by "90", "93", "95", "97".
        above: Share of the sentences above the reference's percentile; null without a reference or
            a sentence.
    """

    sentences: int
    documents: int
    mean: Estimate | None = None
    groups: dict[str, float] = Field(default_factory=dict[str, float])
    percentiles: dict[str, Estimate] = Field(default_factory=dict[str, Estimate])
    above: Estimate | None = None


class BiasWord(Entry):
    """A word and what it adds to the bias scores of a pane. The word is data, it is not escaped.

    Attributes:
        word: The word in lower case.
        group: The group that it leans to.
        count: How often it stands in the pane.
        share: Its part of the sum of the pane's absolute scores.
    """

    word: str
    group: str
    count: int
    share: float


class BiasScore(Measured):
    """The bias score of a pane.

    Attributes:
        attribute: The attribute whose groups words lean to.
        vectors: Digest of the word vectors.
        threshold: The reference's percentile; null without a reference.
        sums: Sums of the pane, after its repair.
        pane: Figures of the pane alone.
        rolling: Figures of the last accepted panes and this one, from which the verdict comes.
        cumulative: Figures of all panes so far.
        verdict: Verdict on the pane.
        words: The words that add most to the pane's scores; of rare words nothing is known.
    """

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
