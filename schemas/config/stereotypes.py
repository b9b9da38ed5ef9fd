"""Section `stereotypes`, and what of it an attribute may have otherwise."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from evenflow.schemas.config.sections import OFF, Section, Share
from evenflow.schemas.guards import is_mapping

Policy = Annotated[Literal["off", "flag", "remove", "quarantine"], OFF]


class StereotypeSettings(Section):
    """Section `stereotypes`."""

    policy: Policy = Field(
        default="off",
        description=(
            "What happens to stereotypes, the sentences above the threshold. off: nothing is"
            " looked for. flag: they are noted in the sentence table. remove: they are removed from"
            " their documents."
            " quarantine: their documents are quarantined."
        ),
    )
    threshold: Share = Field(
        default=0.66,
        description=(
            "Strength from which a potential stereotype is a strong one. 0.66: the main paper's"
            " thresholds of score_scsc lie between 0.63 and 0.69."
        ),
    )
    most_removed: Share = Field(
        default=0.5,
        description=(
            "Largest share of its sentences that a document may lose. A document that would lose"
            " more is quarantined, because the rest is no longer a text."
        ),
    )
    precision: Share = Field(
        default=0.8,
        description=(
            "Precision that remove and quarantine need: the share of the sentences they act on"
            " that are stereotypes of the attribute's own groups. They act from the lowest"
            " probability from which labelled sentences show it. If none does, an attribute's"
            " sentences are only flagged. The report gives the share and the number of sentences."
        ),
    )
    remove_from: Share | None = Field(
        default=None,
        description=(
            "Probability from which remove and quarantine act, in the place of precision. The"
            " report says how often labelled sentences from there on were right, if there are any."
            " null: precision decides."
        ),
    )
    detector: str | None = Field(
        default=None,
        description=(
            "Finds potential stereotypes in the place of the shipped detector: the name of a"
            " plug-in, as `evenflow doctor` lists it, or its place, MODULE:NAME."
        ),
    )
    creeds: Literal["flag", "policy"] = Field(
        default="flag",
        description=(
            "What happens to a strong stereotype of a creed alone, which says nothing of people."
            " flag: it is only flagged, whatever the policy is. policy: the same as to one of"
            " people."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _no_encoder(cls, given: Any) -> Any:
        """Accept the old key `encoder` if it is empty."""
        if not is_mapping(given):
            return given
        if given.get("encoder") is not None:
            raise ValueError(
                "encoder: there is none to choose any more, the shipped one always looks; leave"
                " this key out"
            )
        return {name: each for name, each in given.items() if name != "encoder"}


class AttributeStereotypes(Section):
    """Section `attributes.NAME.stereotypes`."""

    policy: Policy | None = Field(
        default=None, description="Policy for this attribute. null: stereotypes.policy."
    )
    threshold: Share | None = Field(
        default=None, description="Threshold for this attribute. null: stereotypes.threshold."
    )
