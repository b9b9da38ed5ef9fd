"""Section `encoder` of an experiment: a sentence encoder that is trained on pairs of sentences."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from evenflow.schemas.config.section import Section
from evenflow.schemas.messages import Problem, refuse

BILSTM, TRANSFORMER = "bilstm-max", "transformer"


class EncoderSettings(Section):
    """Section `encoder`."""

    kind: Literal["bilstm-max", "transformer"] = Field(
        default="bilstm-max",
        description=(
            "bilstm-max: a BiLSTM on frozen word vectors, and the maximum of its states (Conneau et"
            " al. 2017). transformer: the model of a folder, all of whose weights are tuned."
        ),
    )
    hidden: int = Field(
        default=256,
        ge=1,
        description="States of the BiLSTM in each direction. The published encoder has 2048.",
    )
    vectors: str | None = Field(
        default=None,
        description=(
            "File of word vectors, which the bias score uses too: as for bias_score.vectors. null:"
            " the shipped vectors."
        ),
    )
    model: str | None = Field(
        default=None, description="transformer: folder of a model, or a name in build/models."
    )
    pooling: Literal["mean", "max"] = Field(
        default="mean", description="transformer: which vector of its tokens is the sentence's."
    )
    epochs: int = Field(default=1, ge=1, description="How often each pair is learnt from.")
    batch: int = Field(default=64, ge=1, description="Pairs of a step.")
    rate: float | None = Field(
        default=None,
        gt=0,
        description="Learning rate of AdamW. null: 0.002 for bilstm-max, 0.00002 for transformer.",
    )
    longest: int = Field(
        default=64, ge=1, description="Words, or tokens, that are read of a sentence."
    )
    labels: list[str] = Field(
        default_factory=list[str],
        description="Labels that a pair may have. []: any; in SNLI's format the three of SNLI.",
    )
    threads: int | None = Field(
        default=None, ge=1, description="Threads of the CPU. null: as many as torch takes."
    )

    @model_validator(mode="after")
    def _consistent(self) -> EncoderSettings:
        """Refuse a transformer without a model, and a BiLSTM with one."""
        if (self.kind == TRANSFORMER) != (self.model is not None):
            text = (
                "the folder of a model was expected"
                if self.model is None
                else (f"{BILSTM} has none; is kind: {TRANSFORMER} meant?")
            )
            refuse([Problem(("model",), text)])
        return self

    @property
    def learning_rate(self) -> float:
        """The rate that is taken."""
        return self.rate or (2e-3 if self.kind == BILSTM else 2e-5)
