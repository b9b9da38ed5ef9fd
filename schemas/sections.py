"""The sections of the configuration: their keys, the defaults and the reasons for them.

`evenflow config show` prints the descriptions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.hidden import AddressOrNone, SecretPlace
from evenflow.schemas.messages import Problem, refuse, shown
from evenflow.schemas.secrets import check_security
from evenflow.schemas.threshold import Threshold, ThresholdError

# Allowed error of the sum of a target's shares: three thirds written with seven digits pass
SHARES_TOLERANCE = 1e-6

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """Base of the sections: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


PLAIN_COLUMNS = ("text", "int", "float", "bool")  # types of columns; a list or mapping is of these


def _columns(given: Any) -> Any:
    """Read columns with types: a plain one, json, [TYPE] for lists, {KEY: TYPE} for objects."""
    if given is None:
        return None
    found: list[Problem] = []

    def look(value: Any, *place: str, top: bool = False) -> None:
        if is_mapping(value) and value:
            for key, each in value.items():
                look(each, *place, str(key))
        elif is_list(value) and len(value) == 1:
            look(value[0], *place)
        elif not (isinstance(value, str) and value in (*PLAIN_COLUMNS, *["json"] * top)):
            text = (
                f"{', '.join(PLAIN_COLUMNS)}, json, [TYPE] or {{KEY: TYPE}} was expected, not"
                f" {shown(value)}"
            )
            found.append(Problem(place, text))

    if not is_mapping(given):
        refuse([Problem((), f"columns with their types were expected, not {shown(given)}")])
    for name, value in given.items():
        look(value, str(name), top=True)
    refuse(found)
    return given


with warnings.catch_warnings():  # `schema` hides a method of pydantic that nothing calls any more
    warnings.filterwarnings("ignore", 'Field name "schema"')

    class Fields(Section):
        """Section `fields`."""

        text: str = Field(
            default="text", min_length=1, description="Field that holds a document's text."
        )
        id: str = Field(
            default="id",
            min_length=1,
            description=(
                "Field that holds a document's id. A document without it gets an id from its file"
                " and its number in that file."
            ),
        )
        schema: Annotated[dict[str, Any] | None, BeforeValidator(_columns)] = Field(  # pyright: ignore
            default=None,
            description=(
                "Columns of the shards for the other fields, with their types: text, int, float,"
                " bool, json (JSON text), [TYPE] for a list, {KEY: TYPE} for an object; such as"
                " {url: text, tags: [text]}. What fits none of them is JSON text in the column"
                " _extra. null: they are decided from a sample of the input at the start."
            ),
        )


class PaneSettings(Section):
    """Section `pane`."""

    docs: int | None = Field(
        default=None,
        ge=1,
        description="Most documents in a pane. null: 262,144, or as many as mib allows.",
    )
    mib: int = Field(
        default=64,
        ge=1,
        description=(
            "Most MiB of records in a pane, as read and decompressed. 64: that much web and news"
            " text names even religion, the rarest shipped attribute, some thousand times, which"
            " is enough for a verdict. The checks and files of such a pane cost little compared"
            " with reading it."
        ),
    )
    rolling: int = Field(
        default=4,
        ge=1,
        description=(
            "Number of panes behind a verdict: the pane itself and the last accepted ones before"
            " it, because the verdict is about what accepted/ will hold. 4: one odd pane (a single"
            " book or site) does not decide alone, and a lasting change shows within four panes."
            " 1: each pane is judged alone."
        ),
    )


class Duplicates(Section):
    """Section `duplicates`."""

    scope: Literal["pane", "run"] = Field(
        default="pane",
        description=(
            "Where an id must be unique. The first document with an id stays, later ones become"
            " dead letters. pane: within a pane. run: across all panes, accepted or not, with an"
            " exact index of ids on disk (gate/ids.sqlite), which is rebuilt from the shards if it"
            " is missing. pane is the default because run has a cost: the index (2 million ids of"
            " 36 characters took 48 bytes and 16 µs each), and panes that are closed one after the"
            " other instead of by the workers."
        ),
    )


Mode = Literal["measure", "substitute", "augment", "weight"]


CHAINS = ("measure", "substitute", "augment", "weight", "substitute,weight", "augment,weight")


def _steps(given: Any) -> Any:
    """Read steps that follow each other: a list, or one text such as substitute,weight."""
    steps = given.replace(" ", "").split(",") if isinstance(given, str) else given
    if not is_list(steps) or ",".join(map(str, steps)) not in CHAINS:
        refuse([Problem((), f"{' or '.join(CHAINS)} was expected, not {shown(given)}")])
    return steps


Realise = Literal["weight", "sample"]
Modes = Annotated[list[Mode], BeforeValidator(_steps)]
# YAML 1.1 reads an off without quotes as false.
Policy = Annotated[
    Literal["off", "flag", "remove", "quarantine"],
    BeforeValidator(lambda value: "off" if value is False else value),
]


class RepairSettings(Section):
    """Section `repair`."""

    mode: Modes = Field(
        default_factory=lambda: list[Mode](["measure"]),
        description=(
            "How uneven groups are repaired, step by step. measure: the text stays as it is."
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
            " every label is exchanged; this is for comparison."
        ),
    )
    precision: Share = Field(
        default=0.8,
        description=(
            "Share of the exchanges that are to be right in their whole document. The careful"
            " judge's table says from which probability on they reach it for an attribute, with the"
            " lower bound of the interval. Where none does, the attribute is not exchanged."
        ),
    )
    strictness: Share | None = Field(
        default=None,
        description=(
            "Least probability that an exchange is right, in place of the one that reaches"
            " repair.precision. 0 makes every possible exchange, 1 none. null: by"
            " repair.precision; 0.8 where the judge is fast or the method base."
        ),
    )
    judge: Literal["careful", "fast"] = Field(
        default="careful",
        description=(
            "What decides whether an exchange is right. fast: the first stage (static embeddings of"
            " the words around) alone. careful: also the shipped reader, which reads the document"
            " around each exchange that is drawn."
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
    distance: Literal["entropy", "chi2"] = Field(
        default="entropy",
        description=(
            "How far weights are from 1. entropy: relative entropy, as in raking. chi2: (w - 1)^2,"
            " as in linear calibration."
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
    realise: Realise = Field(
        default="weight",
        description=(
            "What becomes of weights. weight: a column. sample: each document is written as often"
            " as a draw with its weight as mean says, 0 times to weight_limit times; those left out"
            " go to set-aside/. For trainers that know no weights."
        ),
    )


class StereotypeSettings(Section):
    """Section `stereotypes`."""

    policy: Policy = Field(
        default="off",
        description=(
            "What happens to sentences above the threshold. off: nothing is looked for. flag: they"
            " are noted in the sentence table. remove: they are removed from their documents."
            " quarantine: their documents are quarantined."
        ),
    )
    threshold: Share = Field(
        default=0.66,
        description=(
            "score_scsc from which a potential stereotype is a strong one. 0.66: the main paper's"
            " thresholds lie between 0.63 and 0.69."
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
            " that are stereotypes of the attribute's own groups. If labelled sentences do not"
            " show it for an attribute, its sentences are only flagged, and the report says so."
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


class BiasScoreSettings(Section):
    """Section `bias_score`."""

    mode: Annotated[
        Literal["off", "measure", "subtract", "augment"],
        BeforeValidator(lambda value: "off" if value is False else value),
    ] = Field(
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
            "File of word vectors: text of GloVe or fastText, text or binary of word2vec. Or the"
            " folder of an encoder as transformers reads it: each word then has its vector, and its"
            " importance, in its sentence. The path is relative to this file's folder. encoder: the"
            " encoder that ships. null: the shipped static vectors, which need 12 MB of memory and"
            " know 47,720 words."
        ),
    )
    reference: str | None = Field(
        default=None,
        description=(
            "File that `evenflow bias-score reference` made of a corpus with the same vectors. The"
            " path is relative to this file's folder. null: panes are measured, not judged."
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
            " this. 0.2: four times the reference's share."
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


class AttributeStereotypes(Section):
    """Section `attributes.NAME.stereotypes`."""

    policy: Policy | None = Field(
        default=None, description="Policy for this attribute. null: stereotypes.policy."
    )
    threshold: Share | None = Field(
        default=None, description="Threshold for this attribute. null: stereotypes.threshold."
    )


class AttributeSettings(Section):
    """Section `attributes.NAME`."""

    wordlist: str | None = Field(
        default=None,
        description=(
            "Path of a word list, relative to this file's folder. null: the shipped list of that"
            " name."
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
    strictness: Share | None = Field(
        default=None, description="Strictness for this attribute. null: repair.strictness."
    )
    stereotypes: AttributeStereotypes = Field(
        default_factory=AttributeStereotypes,
        description="Settings of stereotypes for this attribute.",
    )

    @model_validator(mode="after")
    def _target_is_shares(self) -> AttributeSettings:
        """Refuse a target whose shares do not sum to 1."""
        if not isinstance(self.target, dict):
            return self
        total = math.fsum(self.target.values())
        if abs(total - 1) > SHARES_TOLERANCE:
            refuse([Problem(("target",), f"the shares sum to {total:.9g}; 1 was expected")])
        return self


class Requirement(Section):
    """Section `gate.require.SUITE`."""

    low: float | None = Field(default=None, description="The figure must be at least this.")
    high: float | None = Field(default=None, description="The figure must be at most this.")
    state: Literal["warn", "block"] = Field(
        default="block",
        description="State of a pane while the figure's whole interval is outside.",
    )


class Notify(Section):
    """Section `gate.notify`."""

    url: AddressOrNone = Field(
        default=None,
        description=(
            "Address that gets an HTTP POST for each blocked pane, for those without Prometheus,"
            " or where it is: {env: NAME} or {file: PATH}. null: nobody is told."
        ),
    )
    secret: SecretPlace = Field(
        default=None,
        description=(
            "Where the secret is that signs the message: {env: NAME} or {file: PATH}, never the"
            " secret itself. null: the message is not signed."
        ),
    )
    timeout: float = Field(
        default=5.0,
        gt=0,
        description="Seconds for an answer. The gate never waits for it. 5: for a busy server.",
    )
    patience: float = Field(
        default=10.0,
        ge=0,
        description=(
            "Seconds at the end of a run in which what is left is sent; the next run sends the"
            " rest. 10: well below the 30 s that a cluster gives a gate to stop."
        ),
    )


class Gate(Section):
    """Section `gate`."""

    warn: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description=(
            "A pane gets a warning if the lower bound of its rolling DR is at least this. The"
            " bound is compared and not the score, so that chance alone raises no warning. 0.25:"
            " of two groups, one has three quarters of the mentions, three times the other's."
        ),
    )
    block: float = Field(
        default=0.45,
        ge=0,
        le=1,
        description=(
            "A pane is blocked if the lower bound of its rolling DR is at least this. 0.45: of two"
            " groups, one has nineteen twentieths of the mentions and the other hardly occurs."
        ),
    )
    min_mentions: int = Field(
        default=200,
        ge=0,
        description=(
            "Least number of mentions in the rolling panes for a verdict. 200: mentions of one"
            " document go together and are worth half as much as independent ones. DR is then"
            " known to about 0.1, half the way from warn to block."
        ),
    )
    hysteresis: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description=(
            "How far the bound must fall below its threshold to end warn or block. It is never"
            " more than half the threshold. 0.02: a stream near a threshold does not change its"
            " state with every pane, and a stream that got better is accepted again."
        ),
    )
    most_dead: Share = Field(
        default=0.05,
        description=(
            "Largest share of a pane's records that may become dead letters. A pane with more is"
            " blocked, and so is a pane with a file that could not be read to its end. 1: no pane"
            " is blocked for this. 0.05: a single broken record is normal, but one in twenty is"
            " another defect (such as a wrong fields.text), and such a pane should not count as"
            " even."
        ),
    )
    scope: Literal["pane", "documents"] = Field(
        default="pane",
        description=(
            "What a score that blocks sets aside. pane: the whole pane. documents: the documents"
            " with the fewest tokens in all without which the pane is not blocked; the rest of it"
            " is accepted. If more than half of the pane would have to go, all of it does. Not"
            " with weights."
        ),
    )
    policy: Literal["quarantine", "halt"] = Field(
        default="quarantine",
        description=(
            "What happens after a blocked pane. quarantine: the pane goes to quarantine/, the run"
            " goes on, and the pane's text does not count in later verdicts. halt: a run on files"
            " stops and a run on a topic waits until a person releases the gate."
        ),
    )
    confidence: float = Field(
        default=0.95,
        gt=0.5,
        lt=1,
        description="Confidence level of the intervals. 0.95: the usual one.",
    )
    require: dict[str, Requirement] = Field(
        default_factory=dict[str, Requirement],
        description=(
            "Limits of the last model's benchmark figures, by suite; a trigger measures them. The"
            " verdict then depends on when the benchmark was done."
        ),
    )
    notify: Notify = Field(default_factory=Notify, description="Who is told of a blocked pane.")


class CoverageSettings(Section):
    """Section `coverage`."""

    tau: int | float | str | None = Field(
        default=None,
        description=(
            "Least coverage of a pattern: a share of the records (0.01 or 1%), or a number of"
            " records (30). null: coverage is not looked at."
        ),
    )
    attributes: list[str] | None = Field(
        default=None,
        min_length=1,
        description=(
            "Attributes whose meetings are looked at. A measured attribute is named in the text;"
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
            " that nearly all meetings of three are too rare."
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


class Measure(Section):
    """Section `measure`."""

    count: Literal["words", "people"] = Field(
        default="words",
        description=(
            "What is counted and judged. words: each mention of a label, as the score is published."
            " people: mentions that name a person or people of the group, not “ancient craft” or"
            " “minor damage”: a first stage over all mentions, and a reader over a sample, see the"
            " page “Statistics”. The words' figures are shown beside. Not with weights, which make"
            " words even. words is the default because of what reading costs."
        ),
    )
    passages: int = Field(
        default=64,
        ge=0,
        le=4096,
        description=(
            "Most passages of a pane and attribute that the reader reads to count people; fewer"
            " where the interval lies on one side of the thresholds before. A passage takes some"
            " 0.05 s. 0: none; the first stage alone is then believed."
        ),
    )
    epsilon: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description=(
            "DR has converged when its interval is narrower than plus or minus epsilon. 0.02: the"
            " gate's hysteresis, so that the remaining chance does not change a verdict."
        ),
    )


class CheckSettings(Section):
    """Section `checks`."""

    suite: str | None = Field(
        default=None,
        description=(
            "YAML file with further expectations for each pane, [{type, kwargs}]. The path is"
            " relative to this file's folder."
        ),
    )


class Shards(Section):
    """Section `shards`."""

    rows: int = Field(
        default=50_000,
        ge=1,
        description=(
            "Most documents in a shard. 50,000: an ordinary pane is one shard. A pane of very"
            " short texts has several, and none is too large to be read at once."
        ),
    )


class Kafka(Section):
    """Section `kafka`."""

    security: Annotated[dict[str, Any], BeforeValidator(check_security)] = Field(
        default_factory=dict,
        description=(
            "Settings of kafka-python for TLS and SASL, such as security_protocol and ssl_cafile."
            " A secret (sasl_plain_password, ssl_password) is {env: NAME} or {file: PATH}, never"
            " the value."
        ),
    )
    delivery_seconds: float = Field(
        default=20.0,
        gt=0,
        description=(
            "Seconds that a broker may take to confirm what is published. After that the pane is"
            " tried again. 20: a broker that restarts is back by then."
        ),
    )
    transaction_seconds: float = Field(
        default=90.0,
        ge=1,
        description=(
            "Seconds that publishing a pane may take; then the broker aborts it, and it is tried"
            " again. Readers of committed records wait as long for a gate that was killed and does"
            " not start again. 90: a pane of 64 MiB takes seconds. A broker allows 900 by default."
        ),
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd",
        description=(
            "Compression of what is published. zstd: a topic's size limit counts the compressed"
            " bytes, and all Kafka clients read it."
        ),
    )
    proof_topic: str = Field(
        default="evenflow-published",
        min_length=1,
        description=(
            "Compacted topic in which each transaction records the panes it published. It is"
            " created if it is missing. All gates of a cluster share it. If it was deleted, the"
            " next start needs --publish-from to say what was published."
        ),
    )


Tiering = Literal["embedded", "cascade", "llm"]


class LlmModels(Section):
    """Models of single steps of section `llm`."""

    detection: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Model that detects stereotypes. null: llm.model. A larger model pays here and for"
            " substitution."
        ),
    )
    indicators: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Model that finds the linguistic indicators. null: llm.model. A smaller one is enough."
        ),
    )
    substitution: str | None = Field(
        default=None,
        min_length=1,
        description="Model that judges substitutions. null: llm.model.",
    )


class Llm(Section):
    """Section `llm`."""

    url: AddressOrNone = Field(
        default=None,
        description=(
            "Address of an OpenAI-compatible server, such as http://127.0.0.1:8000, or where it"
            " is: {env: NAME} or {file: PATH}. null: no LLM is asked."
        ),
    )
    model: str | None = Field(
        default=None, min_length=1, description="Name of the model at that server."
    )
    models: LlmModels = Field(
        default_factory=LlmModels,
        description="Other models at that server for single steps.",
    )
    key: SecretPlace = Field(
        default=None,
        description=(
            "Where the server's key is: {env: NAME} or {file: PATH}, never the key itself. null:"
            " the server needs none."
        ),
    )
    detection: Tiering = Field(
        default="cascade",
        description=(
            "What detects stereotypes. embedded: the shipped model. llm: the LLM. cascade: the LLM"
            " answers only where the embedded model is unsure. cascade is the default because it"
            " has most of the gain at a fraction of the cost."
        ),
    )
    indicators: Tiering = Field(
        default="cascade",
        description="What finds the linguistic indicators. The values are those of detection.",
    )
    substitution: Tiering = Field(
        default="cascade",
        description=(
            "What judges the substitutions that the plan has drawn. embedded: the shipped model."
            " cascade: the LLM too, of substitutions that the shipped model would refuse, though"
            " they may be right. llm: the LLM too, also of those that it would accept."
        ),
    )
    requests: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Most questions for a pane. The most valuable ones are asked, where the embedded model"
            " is nearest to its decision; answers from the cache count too. A block with a"
            " question is read twice. null: no limit."
        ),
    )
    most_fallbacks: Share = Field(
        default=0.1,
        description=(
            "Largest share of a pane's questions that the embedded model may answer because the"
            " LLM failed (away, slow, full, wrong answers). A spent budget is no failure. 0.1: a"
            " busy server fails that often; with more, the pane is not what was asked for."
        ),
    )
    fallbacks: Literal["warn", "block"] = Field(
        default="warn",
        description=(
            "Verdict on a pane with more fallbacks than that. warn is the default because the"
            " small models did judge its text."
        ),
    )
    cache: str | None = Field(
        default=None,
        description=(
            "File of answers that runs share. null: evenflow/llm.sqlite in the user's cache folder."
        ),
    )
    cache_mib: int = Field(
        default=1024,
        ge=1,
        description="Most MiB of that file. 1024: about two million answers.",
    )
    deadline: float = Field(
        default=120.0,
        gt=0,
        description=(
            "Seconds for a question with its retries. After that the embedded model's answer"
            " counts."
        ),
    )
    concurrency: int = Field(
        default=32,
        ge=1,
        description=(
            "Most requests at once in a worker. 32: enough to fill the batches of one GPU."
        ),
    )

    @model_validator(mode="after")
    def _server_and_model(self) -> Llm:
        """Refuse a server without a model."""
        if self.url is not None and self.model is None:
            refuse([Problem(("model",), "the model's name at the server is missing")])
        return self


class Metrics(Section):
    """Section `metrics`."""

    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description=(
            "Port at which a run serves its metrics to Prometheus. 0: any free port. null: no"
            " metrics are served."
        ),
    )
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description=(
            "Address to listen on. 127.0.0.1: only this machine can connect. 0.0.0.0: every"
            " network of this machine can."
        ),
    )
