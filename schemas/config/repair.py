"""Section `repair`: how uneven groups are made even."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evenflow.schemas.config.sections import Section, Share, ShareOrFile
from evenflow.schemas.guards import is_list
from evenflow.schemas.messages import Problem, refuse, shown

Mode = Literal["measure", "substitute", "augment", "weight"]


CHAINS = ("measure", "substitute", "augment", "weight", "substitute,weight", "augment,weight")


def _steps(given: Any) -> Any:
    """Read steps that follow each other: a list, or one text such as substitute,weight."""
    steps = given.replace(" ", "").split(",") if isinstance(given, str) else given
    if not is_list(steps) or ",".join(map(str, steps)) not in CHAINS:
        refuse([Problem((), f"{' or '.join(CHAINS)} was expected, not {shown(given)}")])
    return steps


# Two whole numbers; `repair.protect` has it in the form 1000-2029
RANGE = re.compile(r"(\d+)\s*[-–]\s*(\d+)")
LONGEST = 18  # digits of a number


def _protected(given: Any) -> Any:
    """Write ranges in one form, and refuse those that hold no number."""
    if not is_list(given):
        return given
    found, problems = list[Any](), list[Problem]()
    for place, each in enumerate(given):
        own = each.strip() if isinstance(each, str) else each
        ends = RANGE.fullmatch(own) if isinstance(own, str) else None
        if ends and (max(map(len, ends.groups())) > LONGEST or int(ends[1]) > int(ends[2])):
            what = "a range from a number to a higher one was expected, such as 1000-2029"
            problems.append(Problem((str(place),), f"{what}, not {shown(each)}"))
        found.append(f"{ends[1]}-{ends[2]}" if ends else own)
    if problems:
        refuse(problems)
    return found


Standard = Literal["document", "sentence"]
PRECISION = 0.8  # also of an attribute that a mapping does not name
JUDGES = ("careful", "fast")  # those that ship
OutputAs = Literal["weight", "sample"]
Modes = Annotated[list[Mode], BeforeValidator(_steps)]


class RepairSettings(Section):
    """Section `repair`."""

    mode: Modes = Field(
        default_factory=lambda: list[Mode](["measure"]),
        description=(
            "How uneven groups are repaired: measure, substitute, augment, weight; or"
            " substitute,weight. measure: the text stays as it is."
            " substitute: sentences are replaced by counterfactuals. augment: changed copies of"
            " documents are added. weight: each document gets one weight for all attributes. weight"
            " may follow one of the others, as in [substitute, weight]. measure is the default"
            " because no text should change unless somebody asks for it."
        ),
    )
    method: Literal["gc", "base"] = Field(
        default="gc",
        description=(
            "How counterfactuals are made. gc: with regard to grammar and context. base (BaseCDA):"
            " every label of a sentence is exchanged; substitute then has no plan, but changes half"
            " of the sentences of the group that is named most to the one named least. This is for"
            " comparison."
        ),
    )
    standard: Standard = Field(
        default="document",
        description=(
            "When an exchange is right. document: nothing in its whole document is false, and"
            " nobody is changed by half. sentence: each sentence alone is grammatical and natural"
            " and says no less; people whose name stands elsewhere may change."
        ),
    )
    target_precision: Share | dict[str, Share] = Field(
        default=PRECISION,
        description=(
            "Share of the exchanges that are to be right by repair.standard; or one for each"
            " attribute, such as {gender: 0.8, religion: 0.4}. The careful judge's table says from"
            " which probability on they reach it, with the lower bound of the interval. Where none"
            " does, the attribute is not exchanged."
        ),
    )
    min_probability: ShareOrFile = Field(
        default=None,
        description=(
            "Least probability that an exchange is right, in place of the one that reaches"
            " repair.target_precision. 0 makes every possible exchange, 1 none. Or the file of a"
            " review of your corpus (`evenflow words review OUT --finish FILE`): the lower bounds"
            " of its intervals decide for the attributes that it has. null: by"
            " repair.target_precision; 0.8 where the judge is fast or the method base."
        ),
    )
    judge: str = Field(
        default="careful",
        description=(
            "What decides whether an exchange is right. fast: the first stage (static embeddings of"
            " the words around) alone. careful: also the shipped reader, which reads the document"
            " around each exchange that is drawn. A plug-in's name or place, as `evenflow"
            " doctor` lists it: that plug-in, in the place of the reader."
        ),
    )
    device: Literal["cpu", "cuda"] = Field(
        default="cpu",
        description=(
            "What runs the careful judge. cuda: a GPU of NVIDIA, which reads passages in batches;"
            " it needs the package onnxruntime-gpu in the place of onnxruntime, and decides the"
            " same but for rounding."
        ),
    )
    protect: Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_protected)] = (
        Field(
            default_factory=list[str],
            description=(
                "Words and phrases whose sentences stay as they are, and ranges of numbers, such"
                " as 1000-2029 for years. The method base knows none. []: the judge reads what a"
                " sentence says, whatever its words."
            ),
        )
    )
    aim_share: Share = Field(
        default=0.0,
        description=(
            "Share of the sets, in each direction, that are judged before the plan: those whose"
            " neighbouring words lean most to their group. As many mentions are exchanged both"
            " ways, so the words go less with a group; where right exchanges are short, DR falls"
            " less. 0: by the plan alone."
        ),
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Seed of the draw that chooses sentences under the plan. Any number.",
    )
    weight_limit: float = Field(
        default=4.0,
        ge=1,
        description=(
            "Greatest weight of a document; the least weight is one divided by it. 4: a model that"
            " reads a document four times in a pass does not yet learn it by heart."
        ),
    )
    least_effective: Share = Field(
        default=0.7,
        description=(
            "Least effective sample of a pane under weights, as a share of its documents: (sum of"
            " w)^2 / (n sum of w^2), one over Kish's design effect. If the targets need less, DR"
            " stays higher. 0.7: an estimate from the weighted documents is as sure as one from"
            " 0.7 times as many. 0: no floor."
        ),
    )
    least_mentions: Share = Field(
        default=0.0,
        description=(
            "Least share of an attribute's mentions that weights leave. DR also falls where"
            " documents that name an attribute weigh less. 0: any."
        ),
    )
    keep: list[str] = Field(
        default_factory=lambda: ["source", "language"],
        description=(
            "Fields of the documents whose mix weights must keep: the share of each value stays"
            " within keep_within. A field that the documents lack asks for nothing. Two attributes"
            " with an asterisk, such as gender*age, ask that no fewer documents, weighted, name"
            " both of two groups than do without weights."
        ),
    )
    keep_within: Share = Field(
        default=0.01, description="How far the share of a value of keep may move. 0.01: one point."
    )
    keep_length: Share = Field(
        default=0.03,
        description=(
            "How far weights may move the length of the texts in all, and so the mean length, as a"
            " share of it. 1: anywhere. Length is counted in bytes of UTF-8, of which a tokenizer"
            " makes tokens; a letter of Greek has two, one of Hindi three, so keep the language too"
            " where there are several."
        ),
    )
    totals: dict[str, dict[str, Share]] = Field(
        default_factory=dict[str, dict[str, Share]],
        description=(
            "Known totals: shares of the documents that values of fields should have under"
            " weights, within keep_within, such as {source: {news: 0.5}}; the others are free."
        ),
    )
    output_as: OutputAs = Field(
        default="weight",
        description=(
            "What becomes of weights. weight: a column. sample: each document is written as often"
            " as a draw with its weight as mean says, 0 times to weight_limit times; those left out"
            " go to set-aside/. For trainers that know no weights."
        ),
    )
