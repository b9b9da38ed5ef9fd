"""Section `coverage`: intersections of attributes that are too rare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from evenflow.schemas.config.sections import Section, Share
from evenflow.schemas.messages import Problem, refuse
from evenflow.schemas.threshold import Threshold, ThresholdError


def _names(given: Any) -> Any:
    """Read names from a list, or from one text such as gender,age."""
    return (
        [name.strip() for name in given.split(",") if name.strip()]
        if isinstance(given, str)
        else given
    )


class CoverageSettings(Section):
    """Section `coverage`."""

    tau: int | float | str | None = Field(
        default=None,
        description=(
            "Least coverage of a pattern: a share of the records (0.01 or 1%), or a number of"
            " records (30). null: coverage is not looked at."
        ),
    )
    attributes: Annotated[list[str] | None, BeforeValidator(_names)] = Field(
        default=None,
        min_length=1,
        description=(
            "Attributes whose intersections are looked at. A measured one is named in the text;"
            " COLUMN.PROPERTY is looked up in entities, and text.PROPERTY for the names in the"
            " text; any other name is a field of the documents. null: all measured attributes."
        ),
    )
    by: str | None = Field(
        default=None,
        description=(
            "Each value of this attribute is looked at on its own, such as a relation of triples:"
            " a share tau is then one of the relation's records. null: all records together."
        ),
    )
    entities: str | None = Field(
        default=None,
        description=(
            "Path of an extract of a knowledge base: CSV with the columns id and name, or"
            " Wikidata's JSON lines. A run goes on only with the same file."
        ),
    )
    properties: dict[str, str] = Field(
        default_factory=dict[str, str],
        description=(
            "Names of the extract's properties or paths, such as {gender: P21, ancestry: P27/P30}."
            " A property that is not named here goes by its own name."
        ),
    )
    unit: Literal["sentence", "referent", "document"] = Field(
        default="sentence",
        description=(
            "What a record is: a sentence, a document, or a referent (labels with nothing but"
            " blanks or hyphens between, such as “old women”)."
        ),
    )
    depth: int = Field(
        default=2,
        ge=1,
        description=(
            "Most attributes that meet in a pattern. 2: few sentences name three attributes, so"
            " that nearly all intersections of three are too rare."
        ),
    )
    warn: Share = Field(
        default=0.5,
        description=(
            "A pane gets a warning if the largest gap of the rolling panes is at least this. A gap"
            " is 1 - coverage/tau, from the upper bound of the coverage: 0 at tau, 1 without any"
            " record. 0.5: a pattern has less than half of what was asked for."
        ),
    )
    block: Share | None = Field(
        default=None,
        description=(
            "A pane is blocked if the largest gap is at least this. null: no pane is, because"
            " blocking more text of the same kind fills no gap."
        ),
    )

    @model_validator(mode="after")
    def _in_order(self) -> CoverageSettings:
        """Refuse a threshold that cannot be read, and a block threshold below warn."""
        if self.tau is not None:
            try:
                Threshold.parse(str(self.tau))
            except ThresholdError as error:
                refuse([Problem(("tau",), str(error))])
        if self.block is not None and self.block < self.warn:
            refuse([Problem(("block",), f"block ({self.block}) is below warn ({self.warn})")])
        if self.attributes and len(set(self.attributes)) < len(self.attributes):
            refuse([Problem(("attributes",), "an attribute is named twice")])
        return self

    def named(self, usual: Iterable[str] = ()) -> tuple[str, ...]:
        """The attributes of a record: those given, or else the usual ones; and `by`."""
        every = [*(usual if self.attributes is None else self.attributes)]
        return tuple(dict.fromkeys([*every, *([self.by] if self.by else [])]))
