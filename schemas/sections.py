"""The sections of the configuration: their keys, the defaults and the reasons for them."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evenflow.schemas import server_url
from evenflow.schemas.messages import Problem, refuse
from evenflow.schemas.secrets import check_place, check_security

# Of the sum of a target's shares: thirds written with seven digits still make 1
SHARES_TOLERANCE = 1e-6

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Fields(Section):
    text: str = Field(
        default="text", min_length=1, description="Field that holds a document's text."
    )
    id: str = Field(
        default="id",
        min_length=1,
        description=(
            "Field that holds a document's id; where it is missing, an id is made from file and"
            " ordinal."
        ),
    )


class PaneSettings(Section):
    docs: int | None = Field(
        default=None, ge=1, description="Documents a pane at most; null: cut by mib alone."
    )
    mib: int = Field(
        default=64,
        ge=1,
        description=(
            "MiB of records (as read, decompressed) a pane at most. 64: in that much web and news"
            " text even religion, the rarest of the shipped attributes, is named some thousand"
            " times, enough for a verdict; and checks and files of a pane cost little beside"
            " reading it."
        ),
    )
    rolling: int = Field(
        default=4,
        ge=1,
        description=(
            "Panes that a verdict looks back on, its own included: the last accepted ones, for what"
            " is judged is what accepted/ will be like. 4: one odd pane (a single book or site)"
            " does not decide alone, and a lasting change shows within four panes. 1: each pane is"
            " judged by itself."
        ),
    )


class Duplicates(Section):
    scope: Literal["pane", "run"] = Field(
        default="pane",
        description=(
            "Where an id names one document, the first; later ones become dead letters. pane:"
            " within a pane. run: in all panes, whatever became of the first: an exact index of ids"
            " on disk, gate/ids.sqlite, which is made anew from the shards where it is missing."
            " pane: the index costs (2 million ids of 36 characters took 48 bytes and 16 µs each),"
            " and panes are then closed one after the other, not by the workers."
        ),
    )


Mode = Literal["measure", "substitute", "augment", "reweight"]
# YAML 1.1 reads an off without quotes as false.
Policy = Annotated[
    Literal["off", "flag", "remove", "quarantine"],
    BeforeValidator(lambda value: "off" if value is False else value),
]


class RepairSettings(Section):
    mode: Mode = Field(
        default="measure",
        description=(
            "What is done about uneven groups: measure leaves the text as it is; substitute"
            " exchanges sentences for counterfactuals; augment adds changed copies of documents;"
            " reweight gives each document a weight. measure: nobody's text is changed unasked."
        ),
    )
    method: Literal["gc", "base"] = Field(
        default="gc",
        description=(
            "How counterfactuals are made: gc heeds grammar and context, base (BaseCDA) exchanges"
            " every label and is there to compare with."
        ),
    )
    strictness: Share = Field(
        default=0.8,
        description=(
            "Least probability that a substitution which is made is right: 0 makes all that are"
            " possible, 1 the surest alone. docs/pages/quality.md has the precision and recall at"
            " 0.8 and at 0.5."
        ),
    )
    judge: Literal["careful", "fast"] = Field(
        default="careful",
        description=(
            "Who says whether an exchange is right. careful: the shipped encoder, of each exchange"
            " that is drawn and of which the first stage (static embeddings) is unsure; fast: the"
            " first stage alone."
        ),
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Of the draw that chooses sentences under the plan; any number.",
    )
    weight_limit: float = Field(
        default=4.0,
        ge=1,
        description=(
            "Greatest weight of a document with reweight, and one through the least. 4: a document"
            " that is read four times a pass is not yet learnt by heart."
        ),
    )


class StereotypeSettings(Section):
    policy: Policy = Field(
        default="off",
        description=(
            "What is done about sentences above the threshold: off: nobody looks; flag: they are"
            " noted in the table of sentences; remove: they are taken out of their documents;"
            " quarantine: their documents are set aside."
        ),
    )
    threshold: Share = Field(
        default=0.66,
        description=(
            "score_scsc from which a potential stereotype counts as a strong one. 0.66: the main"
            " paper's thresholds lie between 0.63 and 0.69."
        ),
    )
    most_removed: Share = Field(
        default=0.5,
        description=(
            "Share of its sentences that a document may lose; one that would lose more is set"
            " aside, for what is left is no text any more."
        ),
    )
    precision: Share = Field(
        default=0.8,
        description=(
            "Share of what remove and quarantine act on that should be stereotypes of the"
            " attribute's own groups. An attribute for which labelled sentences do not show it is"
            " flagged alone, and the report says so."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _no_encoder(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("encoder") is not None:
            raise ValueError(
                "encoder: there is none to choose any more, the shipped one always looks; leave"
                " this key out"
            )
        return (
            {name: each for name, each in given.items() if name != "encoder"}
            if isinstance(given, dict)
            else given
        )


class AttributeStereotypes(Section):
    policy: Policy | None = Field(
        default=None, description="Policy of this attribute; null: stereotypes.policy."
    )
    threshold: Share | None = Field(
        default=None, description="Threshold of this attribute; null: stereotypes.threshold."
    )


class AttributeSettings(Section):
    wordlist: str | None = Field(
        default=None,
        description=(
            "Path of a word list, seen from this file's folder; null: the list of that name that is"
            " shipped."
        ),
    )
    target: dict[str, Share] | None = Field(
        default=None,
        description=(
            "Share of the mentions that each group should have, 1 in all; null: all the same."
        ),
    )
    warn: Share | None = Field(
        default=None, description="Threshold of this attribute; null: gate.warn."
    )
    block: Share | None = Field(
        default=None, description="Threshold of this attribute; null: gate.block."
    )
    mode: Mode | None = Field(
        default=None, description="Repair of this attribute; null: repair.mode."
    )
    strictness: Share | None = Field(
        default=None, description="Strictness of this attribute; null: repair.strictness."
    )
    stereotypes: AttributeStereotypes = Field(
        default_factory=AttributeStereotypes,
        description="Where stereotypes of this attribute are treated otherwise.",
    )

    @model_validator(mode="after")
    def _target_is_shares(self) -> AttributeSettings:
        total = math.fsum((self.target or {}).values())
        if self.target is not None and abs(total - 1) > SHARES_TOLERANCE:
            refuse([Problem(("target",), f"the shares sum to {total:.9g}; 1 was expected")])
        return self


class Gate(Section):
    warn: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description=(
            "Lower bound of the rolling DR from which a pane is warned of. The bound, not the"
            " score: chance alone shall wake nobody. 0.25: of two groups, one has three quarters of"
            " the mentions, three times the other's."
        ),
    )
    block: float = Field(
        default=0.45,
        ge=0,
        le=1,
        description=(
            "Lower bound of the rolling DR from which a pane is blocked. 0.45: of two groups, one"
            " has nineteen twentieths and the other hardly occurs."
        ),
    )
    min_mentions: int = Field(
        default=200,
        ge=0,
        description=(
            "Mentions in the rolling panes below which there is no verdict. 200: with mentions that"
            " go together in documents (half as much worth as independent ones) DR is known to"
            " about 0.1, half the way from warn to block."
        ),
    )
    hysteresis: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description=(
            "How far below its threshold the bound must fall to end warn or block (never more than"
            " half the threshold). 0.02: a stream that lies at a threshold does not change its"
            " state with every pane, and one that got better is let through."
        ),
    )
    most_dead: Share = Field(
        default=0.05,
        description=(
            "Share of a pane's records that may become dead letters; with more it is blocked, and"
            " it is with any file that could not be read to its end. 1: never. 0.05: here and there"
            " a record is broken, one in twenty is another defect (a wrong fields.text, say), which"
            " should not pass for an even pane."
        ),
    )
    policy: Literal["quarantine", "halt"] = Field(
        default="quarantine",
        description=(
            "After a blocked pane: quarantine sets it aside and goes on, and its text does not"
            " count in the verdicts behind it; halt stops there, where each pane needs a person's"
            " consent."
        ),
    )
    confidence: float = Field(
        default=0.95,
        gt=0.5,
        lt=1,
        description="Confidence of the intervals. 0.95: the customary one.",
    )


class Measure(Section):
    epsilon: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description=(
            "DR counts as converged once its interval is narrower than plus or minus epsilon. 0.02:"
            " the gate's hysteresis; what is left of chance then no longer moves a verdict."
        ),
    )


class CheckSettings(Section):
    suite: str | None = Field(
        default=None,
        description=(
            "YAML file with further expectations for each pane, [{type, kwargs}], seen from this"
            " file's folder."
        ),
    )


class Shards(Section):
    rows: int = Field(
        default=50_000,
        ge=1,
        description=(
            "Documents a shard at most. 50,000: an ordinary pane is one shard; one of very short"
            " texts makes several, none of them too large to be read at once."
        ),
    )


class Kafka(Section):
    security: Annotated[dict[str, Any], BeforeValidator(check_security)] = Field(
        default_factory=dict,
        description=(
            "kafka-python's settings for TLS and SASL, as security_protocol and ssl_cafile. A"
            " secret (sasl_plain_password, ssl_password) is {env: NAME} or {file: PATH}, never the"
            " value."
        ),
    )
    delivery_seconds: float = Field(
        default=20.0,
        gt=0,
        description=(
            "Seconds that a broker may take to confirm what is published; then the pane is tried"
            " again. 20: a broker that is started anew is back by then."
        ),
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd",
        description=(
            "Of what is published. zstd: a topic's limit counts what is sent, and all of Kafka's"
            " clients read it."
        ),
    )
    proof_topic: str = Field(
        default="evenflow-published",
        min_length=1,
        description=(
            "Compacted topic where each transaction proves which panes it published; made if it is"
            " not there. Gates of one cluster share it. Whoever deletes it must say at the next"
            " start what was published (--publish-from)."
        ),
    )


Tiering = Literal["embedded", "cascade", "llm"]


class Llm(Section):
    url: str | None = Field(
        default=None,
        description=(
            "Address of an OpenAI-compatible server, as http://127.0.0.1:8000; null: no LLM is"
            " asked."
        ),
    )
    model: str | None = Field(
        default=None, min_length=1, description="The model's name at that server."
    )
    key: Annotated[dict[Literal["env", "file"], str] | None, BeforeValidator(check_place)] = Field(
        default=None,
        description=(
            "Where the server's key is: {env: NAME} or {file: PATH}, never the key; null: it needs"
            " none."
        ),
    )
    detection: Tiering = Field(
        default="cascade",
        description=(
            "Who tells stereotypes: embedded: the model that is shipped; llm: the LLM; cascade: the"
            " LLM, of those alone that the embedded model is unsure of. cascade: most of the gain"
            " at a fraction of the cost."
        ),
    )
    indicators: Tiering = Field(
        default="cascade", description="Who tells the linguistic indicators; as detection."
    )
    substitution: Tiering = Field(
        default="cascade", description="Who chooses and judges substitutions; as detection."
    )
    requests: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Questions a pane at most, the most valuable of it: those where the embedded model is"
            " nearest to its decision; what a cache answers counts too. Each block of the pane that"
            " one bears on is read twice. null: any number."
        ),
    )
    most_fallbacks: Share = Field(
        default=0.1,
        description=(
            "Share of a pane's questions that the embedded model may answer in the LLM's place"
            " because that failed (away, slow, full, wrong answers; not: budget spent). 0.1: what a"
            " busy server leaves over; with more, the pane is not what was asked for."
        ),
    )
    fallbacks: Literal["warn", "block"] = Field(
        default="warn",
        description=(
            "What more fallbacks than that make of the pane. warn: its text was judged, by the"
            " small models."
        ),
    )
    cache: str | None = Field(
        default=None,
        description=(
            "File of answers that runs share; null: evenflow/llm.sqlite in the user's folder for"
            " caches."
        ),
    )
    cache_mib: int = Field(
        default=1024, ge=1, description="MiB of that file at most. 1024: some two million answers."
    )
    deadline: float = Field(
        default=120.0,
        gt=0,
        description=(
            "Seconds for a question, retries included; then the embedded model's answer stands."
        ),
    )
    concurrency: int = Field(
        default=32,
        ge=1,
        description=(
            "Requests under way at once in a worker. 32: enough to fill the batches of one GPU."
        ),
    )

    @model_validator(mode="after")
    def _server_and_model(self) -> Llm:
        if self.url is not None and self.model is None:
            refuse([Problem(("model",), "the model's name at the server is missing")])
        if self.url is not None:
            try:
                server_url.split(self.url)
            except ValueError as error:
                refuse([Problem(("url",), str(error))])
        return self


class Metrics(Section):
    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port where Prometheus finds a run's metrics; 0: a free one; null: nowhere.",
    )
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description=(
            "Address to listen on. 127.0.0.1: nobody but this machine; 0.0.0.0: every network that"
            " it is in."
        ),
    )
