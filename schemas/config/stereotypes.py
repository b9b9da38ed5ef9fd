"""Section `stereotypes`, and what of it an attribute may have otherwise."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evenflow.schemas.config.sections import OFF, Section, Share, ShareOrFile

Action = Annotated[Literal["off", "flag", "remove", "quarantine"], OFF]


class StereotypeSettings(Section):
    """Section `stereotypes`."""

    action: Action = Field(
        default="off",
        description=(
            "What happens to stereotypes. off: nothing is looked for. flag: they, the sentences"
            " above the threshold, are noted in the sentence table. remove: they are removed from"
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
    target_precision: Share = Field(
        default=0.8,
        description=(
            "Precision that remove and quarantine need: the share of the sentences they act on"
            " that are stereotypes of the attribute's own groups. They act from the lowest"
            " probability from which labelled sentences show it. If none does, an attribute's"
            " sentences are only flagged. The report gives the share and the number of sentences."
        ),
    )
    remove_from: ShareOrFile = Field(
        default=None,
        description=(
            "Probability from which remove and quarantine act, in place of target_precision. The"
            " report says how often labelled sentences from there on were right, if there are any."
            " Or the file of a review of your corpus (`evenflow words review OUT --finish FILE`):"
            " target_precision decides by its sentences; the path is relative to this file's"
            " folder. null: target_precision decides."
        ),
    )
    detector: str | None = Field(
        default=None,
        description=(
            "Finds potential stereotypes in the place of the shipped detector: the name of a"
            " plug-in, as `evenflow doctor` lists it, or its place, MODULE:NAME."
        ),
    )
    creeds: Literal["flag", "action"] = Field(
        default="flag",
        description=(
            "What happens to a strong stereotype of a creed alone, which says nothing of people."
            " flag: it is only flagged, whatever the action is. action: the same as to one of"
            " people."
        ),
    )


class AttributeStereotypes(Section):
    """Section `attributes.NAME.stereotypes`."""

    action: Action | None = Field(
        default=None, description="Action for this attribute. null: stereotypes.action."
    )
    threshold: Share | None = Field(
        default=None, description="Threshold for this attribute. null: stereotypes.threshold."
    )
