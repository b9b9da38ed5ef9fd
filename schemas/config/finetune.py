"""Section `finetune` of the configuration: how a model is trained on accepted documents.

The defaults are the main paper's (section on its experimental setup) unless a description says
otherwise.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from evenflow.schemas.config.sections import OFF, Section, Share
from evenflow.schemas.messages import Problem, refuse


class FinetuneSettings(Section):
    """Section `finetune`."""

    objective: Literal["causal", "mlm"] = Field(
        default="causal",
        description=(
            "What is learnt. causal: the next token. mlm: masked tokens, for models like BERT."
        ),
    )
    rank: int = Field(
        default=16,
        ge=0,
        description="Rank of LoRA. 0: no LoRA, all weights are trained, and all are saved.",
    )
    alpha: int = Field(default=16, ge=1, description="LoRA's scale is alpha / rank.")
    dropout: Share = Field(default=0.0, description="Dropout of LoRA.")
    model_dropout: Share | None = Field(
        default=None,
        description=(
            "Dropout of the model's own layers while it is trained. null: as its configuration has"
            " it. Webster et al. (2020) raise it against bias, to 0.15 and 0.2."
        ),
    )
    targets: list[str] | None = Field(
        default=None,
        min_length=1,
        description=(
            "Names of the layers that LoRA adapts. null: with causal the projections q, k, v, o,"
            " gate, up and down; with mlm query, key, value and dense."
        ),
    )
    rate: float = Field(default=2e-4, gt=0, description="Highest learning rate of AdamW.")
    weight_decay: float = Field(default=0.01, ge=0, description="Weight decay of AdamW.")
    warmup: int = Field(
        default=5,
        ge=0,
        description="Steps in which the rate rises from 0. After them it falls linearly to 0.",
    )
    batch: int = Field(default=512, ge=1, description="Sequences in a step.")
    micro_batch: int = Field(
        default=8,
        ge=1,
        description=(
            "Sequences that are computed at once; their gradients add up to a step's. 8: the"
            " paper's 64 need a large GPU. The result differs by rounding alone."
        ),
    )
    context: int = Field(
        default=512,
        ge=8,
        description=(
            "Tokens in a sequence; never more than the model has. Longer documents are cut. 512:"
            " the paper names none, and most paragraphs are shorter."
        ),
    )
    packing: bool = Field(
        default=True,
        description=(
            "Whether short documents share a sequence, with an end-of-text token between them."
            " mlm never packs."
        ),
    )
    weights: Annotated[Literal["loss", "off"], OFF] = Field(
        default="loss",
        description=(
            "How the documents' weights (mode weight) count. loss: in the loss of their tokens."
            " off: not at all."
        ),
    )
    masked: Share = Field(
        default=0.15, description="Share of the tokens that mlm predicts. 0.15: as BERT's training."
    )
    focus: str | None = Field(
        default=None,
        description=(
            "Field of the documents with spans of characters, [[start, end], …]: only tokens there"
            " are learnt (documents are not packed then). null: all tokens."
        ),
    )
    epochs: float = Field(default=10.0, gt=0, description="Passes over the data.")
    window: int | None = Field(
        default=None,
        ge=1,
        description="Only the last so many accepted panes are trained on. null: all of them.",
    )
    replay: float = Field(
        default=0.0,
        ge=0,
        description=(
            "Documents of earlier accepted panes that are trained on beside the window's, for each"
            " document of the window. A hash of their ids draws them. 0: none."
        ),
    )
    steps: int | None = Field(
        default=None, ge=1, description="Number of steps. null: as many as the epochs have."
    )
    seed: int = Field(
        default=0, ge=0, description="Seed of the order, of dropout, of masks and of LoRA."
    )
    checkpoint_steps: int = Field(
        default=20, ge=1, description="Steps between checkpoints. 20: a kill loses few steps."
    )
    merge: bool = Field(
        default=False,
        description=(
            "Whether LoRA's weights are added to the model's, and a whole model is saved, which"
            " servers load."
        ),
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Threads on a CPU. null: PyTorch's choice. Bitwise the same result needs the same"
            " number."
        ),
    )

    @model_validator(mode="after")
    def _consistent(self) -> FinetuneSettings:
        """Refuse replay without a window."""
        if self.replay and self.window is None:
            refuse([Problem(("replay",), "window was expected with it")])
        return self
