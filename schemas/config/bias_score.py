"""Section `bias_score`: what the neutral words of a sentence lean to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evenflow.schemas.config.sections import OFF, Section, Share


class BiasScoreSettings(Section):
    """Section `bias_score`."""

    mode: Annotated[Literal["off", "measure", "subtract", "augment"], OFF] = Field(
        default="off",
        description=(
            "What is done. off: nothing. measure: every sentence is scored, and the pane is judged"
            " if there is a reference. subtract: also, each document whose score is above the"
            " reference's percentile goes to quarantine alone. augment: instead, such a document"
            " stays, and a copy of it is added in which the groups are exchanged."
        ),
    )
    fields: list[str] = Field(
        default_factory=list[str],
        description=(
            "Fields of a record whose texts are scored, each as a whole; the largest is the"
            " document's score, as for a premise and its hypothesis. augment exchanges the groups"
            " in them too. [] : the document's text as a whole."
        ),
    )
    names: bool = Field(
        default=False,
        description=(
            "Whether augment also puts given names in the place of equally frequent ones of the"
            " other sex. false: a name belongs to a person."
        ),
    )
    attribute: str = Field(
        default="gender",
        min_length=1,
        description="The attribute whose groups words lean to; one of the measured ones.",
    )
    vectors: str | None = Field(
        default=None,
        description=(
            "File of word vectors: text of GloVe or fastText, text or binary of word2vec. The path"
            " is relative to this file's folder. null: the shipped vectors, which need 12 MB of"
            " memory and know 47,720 words."
        ),
    )
    reference: str | None = Field(
        default=None,
        description=(
            "File that `evenflow lab bias-score --reference` made of a corpus with the same"
            " vectors. The path is relative to this file's folder. null: panes are measured, not"
            " judged."
        ),
    )
    percentile: Literal[90, 93, 95, 97] = Field(
        default=95,
        description=(
            "Percentile of the reference above which a sentence's score is high. 95: the paper's"
            " removal from there on halved the greatest score of its corpus (section 4.2.1)."
        ),
    )
    warn: Share = Field(
        default=0.1,
        description=(
            "A pane gets a warning if the lower bound of the rolling share of high scores is at"
            " least this. 0.1: twice the share that the reference has above its 95th percentile."
        ),
    )
    block: Share = Field(
        default=0.2,
        description=(
            "A pane is blocked if the lower bound of the rolling share of high scores is at least"
            " this, and the vectors put nine tenths of the sentences whose side is known on that"
            " side; else it gets a warning that says so. 0.2: four times the reference's share."
        ),
    )
    min_sentences: int = Field(
        default=200,
        ge=0,
        description=(
            "Least number of scored sentences in the rolling panes for a verdict. 200: with fewer,"
            " a share of 0.05 has an interval that reaches warn by chance."
        ),
    )
