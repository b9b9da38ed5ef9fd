"""Section `attributes`: the protected attributes."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from evenflow.schemas.config.repair import Modes
from evenflow.schemas.config.sections import SHARES_TOLERANCE, Section, Share, section
from evenflow.schemas.config.stereotypes import AttributeStereotypes
from evenflow.schemas.messages import Problem, refuse


class AttributeSettings(Section):
    """Section `attributes.NAME`."""

    wordlist: str | None = Field(
        default=None,
        description=(
            "Path of a word list, relative to this file's folder. null: the shipped list of that"
            " name."
        ),
    )
    finder: str | None = Field(
        default=None,
        description=(
            "Finds the mentions in the place of a word list: the name of a plug-in, as `evenflow"
            " doctor` lists it, or its place, MODULE:NAME. null: a word list."
        ),
    )
    target: dict[str, Share] | Literal["population"] | None = Field(
        default=None,
        description=(
            "Share of the mentions that each group should have. The shares sum to 1. population:"
            " those of the people who live, as the word list cites them; they are compared with"
            " people, so it needs measure.count people. null: those of the word list (of age: young"
            " and old alike), or else equal shares."
        ),
    )
    warn: Share | None = Field(
        default=None, description="Threshold for this attribute. null: gate.warn."
    )
    block: Share | None = Field(
        default=None, description="Threshold for this attribute. null: gate.block."
    )
    mode: Modes | None = Field(
        default=None, description="Repair of this attribute. null: repair.mode."
    )
    min_probability: Share | None = Field(
        default=None,
        description="Least probability for this attribute. null: repair.min_probability.",
    )
    stereotypes: AttributeStereotypes = section(
        AttributeStereotypes, "Settings of stereotypes for this attribute."
    )

    @model_validator(mode="after")
    def _finder_or_list(self) -> AttributeSettings:
        """Refuse a finder beside a word list."""
        if self.finder is not None and self.wordlist is not None:
            refuse([Problem(("finder",), "wordlist is given too; give one of them")])
        return self

    @model_validator(mode="after")
    def _target_is_shares(self) -> AttributeSettings:
        """Refuse a target whose shares do not sum to 1."""
        if not isinstance(self.target, dict):
            return self
        total = math.fsum(self.target.values())
        if abs(total - 1) > SHARES_TOLERANCE:
            refuse([Problem(("target",), f"the shares sum to {total:.9g}; 1 was expected")])
        return self
