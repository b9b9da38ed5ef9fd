"""Entries of the ledger: one JSON file for each pane.

The ledger is the only record of what was measured, judged and committed.

Every figure here is a pure function of the input, the word lists and the configuration. Wall-clock
times are kept apart (`gate/timings.jsonl`), so that two runs over the same input write the same
ledger byte for byte.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from evenflow.schemas.guards import is_mapping

# Of the ledger and of staged data. A change that older programs would read wrong, or not at all,
# raises it; a new key with a default does not need that, for unknown keys are refused as newer.
FORMAT = 2


def _older_state(given: Any) -> Any:
    """A state as it is called now: outputs of version 0.1 have another word for one."""
    return "not_judged" if given == "too few" else given


State = Annotated[Literal["not_judged", "open", "warn", "block"], BeforeValidator(_older_state)]
Folder = Literal["accepted", "quarantine"]
DOCUMENT_FOLDERS = get_args(Folder)
Severity = Literal["critical", "warning", "info"]
STATES: tuple[State, ...] = ("not_judged", "open", "warn", "block")
BAD: tuple[State, ...] = ("warn", "block")


class Entry(BaseModel):
    """Base of the ledger's records.

    Unknown keys are an error, so that this program never reads a newer ledger in part.
    """

    model_config = ConfigDict(extra="forbid")


class Sums(Entry):
    """What the interval of DR needs: sums that are additive over documents.

    M is the number of groups; they are in the word list's order. c_d, (M,), is the vector of a
    document's mentions.

    Attributes:
        documents: Number of documents with at least one mention.
        counts: Sum of c_d, (M,). With weighted documents the numbers are not whole.
        products: Sum of c_d c_d^T, (M, M). With weighted documents that of what their calibration
            leaves of c_d (transforms.repair.linearised).
    """

    documents: int
    counts: Sequence[int | float]
    products: Sequence[Sequence[int | float]]

    @classmethod
    def empty(cls, groups: int) -> Sums:
        """Sums over no documents, for M groups."""
        return cls(documents=0, counts=[0] * groups, products=[[0] * groups] * groups)


class Score(Entry):
    """A Demographic Representation score with its confidence interval.

    Attributes:
        dr: Plug-in estimate, 0 (even) to 1; null if nothing was mentioned.
        corrected: dr less its upward small-sample bias, at least 0.
        low: Lower bound of the interval; null if there is none.
        high: Upper bound of the interval; null if there is none.
        mentions: Number of mentions behind the score.
        documents: Number of documents with at least one mention.
    """

    dr: float | None
    corrected: float | None
    low: float | None
    high: float | None
    mentions: int
    documents: int


class Verdict(Entry):
    """A verdict and its reason.

    Attributes:
        state: open, warn or block; not_judged if there was too little to judge.
    """

    state: State
    reason: str

    @model_validator(mode="before")
    @classmethod
    def _older(cls, data: Any) -> Any:
        """An entry that was written when what was not judged was open."""
        if not is_mapping(data) or "judged" not in data:
            return data
        kept = {key: value for key, value in data.items() if key != "judged"}
        return kept if data["judged"] else kept | {"state": "not_judged"}

    @property
    def folder(self) -> Folder:
        """Where a pane with this verdict goes."""
        return "quarantine" if self.state == "block" else "accepted"


UNJUDGED = Verdict(state="open", reason="panes are not judged by stereotypes")


class Heavy(Entry):
    """A document with many mentions.

    Attributes:
        counts: Mentions per group, (M,).
        snippet: Beginning of the text. It is data and is not escaped.
    """

    id: str
    counts: list[int]
    snippet: str


class Substitution(Entry):
    """Words that were exchanged for others. The texts are data and are not escaped.

    Attributes:
        count: How often this exchange was made.
        id: Id of the document with the first such sentence.
        before: That sentence before the exchange, cut short.
        after: That sentence after the exchange, cut short.
    """

    said: str
    instead: str
    target: str
    count: int
    id: str
    before: str
    after: str


def effective_sample(documents: int, total: float, squares: float) -> float:
    """The effective sample as a share of the documents, (sum w)^2 / (n sum w^2) (Kish 1965)."""
    return total**2 / (documents * squares) if squares else 1.0


class WeighedAttribute(Entry):
    """An attribute under weights.

    Attributes:
        before: DR without weights, with the weighted mentions that were accepted before; null
            without mentions.
        least: The least DR that weights can reach for this attribute alone; null without mentions.
        proven: A bound below which no weights can bring it, by duality.
        wider: The least DR with a weight limit 1.5 times as great; null if the target is met.
        multipliers: Of the groups, (M,): how much a mention of each adds to ln w, or to w.
    """

    before: float | None
    after: float | None
    least: float | None
    proven: float
    wider: float | None = None
    multipliers: list[float] = []


class KeptTotal(Entry):
    """A total that weights must keep, as shares of the unweighted total.

    Attributes:
        low: Its lower bound; null for none.
        high: Its upper bound; null for none.
        price: By how much the sum of DR would fall if the bound that it touches were 0.01 further.
    """

    name: str
    low: float | None
    value: float
    high: float | None
    price: float


class Weights(Entry):
    """The weights of a pane's documents (mode weight).

    Attributes:
        squares: Sum of their squared weights.
        profiles: Number of profiles that got weights of their own.
        held: Whether that floor holds DR up.
        limit_price: By how much the sum of DR would fall if the limit rose by 1.
        attributes: The attributes whose targets are asked for.
        problem: Why all weights are 1; null if nothing stood in the way.
        left_out: Number of documents that were left out (repair.output_as sample).
        copies: Number of copies that were added.
    """

    documents: int
    total: float
    squares: float
    least: float
    greatest: float
    profiles: int
    limit: float
    floor: float
    held: bool = False
    limit_price: float = 0.0
    attributes: dict[str, WeighedAttribute] = {}
    kept: list[KeptTotal] = []
    problem: str | None = None
    left_out: int = 0
    copies: int = 0

    @property
    def effective(self) -> float:
        """The effective sample as a share of the documents."""
        return effective_sample(self.documents, self.total, self.squares)

    @property
    def verdict(self) -> Verdict | None:
        """A warning where no weights were found."""
        if self.problem is None:
            return None
        return Verdict(state="warn", reason=f"every weight is 1, because {self.problem}")


class Removed(Entry):
    """Documents without which a pane is not blocked (gate.scope: documents).

    Attributes:
        attributes: The attributes that blocked the pane with all its documents.
        of_documents: Number of the pane's documents.
        of_tokens: Number of their tokens, runs without blanks.
        documents: Number of the documents; 0 if the pane stays blocked whatever goes.
        tokens: Number of their tokens.
        least_tokens: No removal that brings DR as low takes fewer.
        mentions: Their mentions of these attributes.
        is_done: Whether they were set aside; else the whole pane went, since most would have gone.
    """

    attributes: list[str]
    of_documents: int
    of_tokens: int
    documents: int = 0
    tokens: int = 0
    least_tokens: float = 0.0
    mentions: dict[str, int] = {}
    is_done: bool = False

    @property
    def told(self) -> str:
        """What was removed, in words."""
        names = " and ".join(self.attributes)
        if not self.documents:
            return f"{names}: the pane stays blocked whatever documents go, so it went whole"
        said = (
            f"{self.documents:,} of {self.of_documents:,} documents ({self.tokens:,} of"
            f" {self.of_tokens:,} tokens)"
        )
        if not self.is_done:
            return f"{names}: {said} would have to go, more than half, so the pane went whole"
        mentions = ", ".join(f"{count:,} of {name}" for name, count in self.mentions.items())
        return (
            f"{said} were set aside, with their mentions ({mentions}); with them {names} would"
            f" block the pane. At least {self.least_tokens:,.0f} tokens must go for as low a DR"
        )


class Repair(Entry):
    """What was done to make an attribute of a pane even.

    A set is a number of mentions that must be exchanged together.

    Attributes:
        mode: How the pane was repaired. Earlier versions had reweight, weights by attribute, and
            kept the least and the greatest of them here, which is no longer read.
        min_probability: Least probability of being right that a substitution needed.
        before: Sums of the text before substitution and after the filter of stereotypes.
        expected_dr: DR that the plan leads to on average; null without a plan.
        shortage: Mentions that each group still lacks under the plan, (M,).
        mentions: Mentions per group after the repair, (M,).
        judged: Number of exchanges that were drawn and that the encoder judged.
        eligible: Number of sets that could be exchanged.
        changed: Number of sets that were exchanged.
        barred: Number of sets that could not be exchanged, by reason.
        copies: Number of documents that were added.
        uncopied: Number of documents that were due a swapped copy and got none, by the reason.
    """

    mode: Literal["substitute", "augment", "reweight"]
    min_probability: float = Field(validation_alias=AliasChoices("min_probability", "strictness"))
    before: Sums
    score_before: Score
    expected_dr: float | None
    shortage: list[float]
    mentions: list[int]
    sets: int = 0
    judged: int = 0
    eligible: int = 0
    changed: int = 0
    barred: dict[str, int] = {}
    sentences: int = 0
    documents: int = 0
    copies: int = 0
    uncopied: dict[str, int] = {}
    substitutions: list[Substitution] = []

    @model_validator(mode="before")
    @classmethod
    def _older(cls, given: Any) -> Any:
        """Leave out what an earlier version kept of its weights."""
        return {k: v for k, v in given.items() if k != "weights"} if is_mapping(given) else given

    @model_serializer(mode="wrap")
    def _without_uncopied(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the reasons where every copy was made, as before there were any."""
        return {k: v for k, v in handler(self).items() if v or k != "uncopied"}


class Filtered(Entry):
    """What the filter found about stereotypes of an attribute's groups in a pane.

    Attributes:
        action: What is done about strong stereotypes.
        threshold: Strength, or score_scsc, from which a potential stereotype is a strong one.
        cut: Probability from which remove and quarantine act; null: they do not act.
        read: Number of labelled sentences from the cut on, or from the lowest probability that has
            figures if there is no cut; they say how often the detector is right.
        right: How many of these are stereotypes.
        asked: Number of sentences that were classified.
        unsure: How many of these had no clear answer.
        potential: How many of these may state a stereotype.
        strong: How many potential ones are above the threshold. The action applies to these.
        kept: How many strong ones stayed: they are below the cut, of a creed alone, or in a passage
            that would be torn.
        creeds: How many potential ones are of a creed alone.
        examples: The strongest ones, {id, sentence, score, reasons}. They are data and are not
            escaped.
    """

    action: Literal["flag", "remove", "quarantine"] = Field(
        validation_alias=AliasChoices("action", "policy")
    )
    threshold: float
    cut: float | None = None
    read: int = 0
    right: int = 0
    asked: int = 0
    unsure: int = 0
    potential: int = 0
    strong: int = 0
    kept: int = 0
    creeds: int = 0
    examples: list[dict[str, str | float]] = []


class People(Entry):
    """The words behind an attribute's figures, where people are counted (measure.count).

    Attributes:
        cumulative: Score of all mentions of all panes so far.
        labels: How many mentions of the most frequent labels name people of their group, by the
            first stage.
        passages: Number of passages that the reader read.
        doubt: Standard error of a group's people for the reader's own errors, as a share of them;
            the intervals of scores of people hold it.
        against: Score of people of all panes so far, against equal shares (even) and those of the
            people who live (population; only where the word list has them).
    """

    words: Sums
    pane: Score
    cumulative: Score
    doubt: float = 0.0
    against: dict[str, Score] = {}
    labels: dict[str, float] = {}
    passages: int


class AttributeEntry(Entry):
    """One attribute of one pane.

    Attributes:
        groups: Names of the M groups, in the order of sums.counts.
        target: Share of the mentions that each group should have, (M,).
        sums: Sums of the pane, after its repair, weighted where documents have weights; of people
            where these are counted.
        rolling: Score of the last accepted panes and this one: what accepted/ would be like with
            it. The verdict comes from this score. Where weights continue what was accepted before,
            of all accepted panes.
        cumulative: Score of all panes so far.
        relevant_sentences: Number of sentences that name the attribute; None: none were looked
            for.
        labels: The most frequent labels and how often each was mentioned.
        stream: Score of the last panes as they came, accepted or not.
        stream_verdict: What the same thresholds give for stream.
        accepted: Score of everything in accepted/ after this pane.
        repair: What the repair did; null without one.
        unweighted: Sums of the pane, after its repair, without weights; null where there are none.
        people: The words, where people are counted; null where words are.
    """

    groups: list[str]
    target: list[float]
    sums: Sums
    pane: Score
    rolling: Score
    cumulative: Score
    verdict: Verdict
    relevant_sentences: int | None
    labels: dict[str, int]
    heavy: list[Heavy]
    stream: Score | None = None
    stream_verdict: Verdict | None = None
    accepted: Score | None = None
    repair: Repair | None = None
    unweighted: Sums | None = None
    people: People | None = None

    def lasting(self) -> AttributeEntry:
        """The entry without what belongs to its pane alone."""
        return self.model_copy(
            update={
                "labels": {} if self.people is None else self.labels,
                "heavy": [],
                "repair": None,
                "unweighted": None,
            }
        )


class Measured(Entry):
    """What a measure found in a pane; its other keys are the measure's (transforms.measures)."""

    model_config = ConfigDict(extra="allow")

    verdict: Verdict


class SourceRange(Entry):
    """The records of one file, or of one partition of a topic, that are in a pane.

    Attributes:
        file: Name of the file; for a stream kafka:TOPIC/PARTITION.
        first: Ordinal of the first record, from 0; for a stream its offset. Dead letters count.
        last: Ordinal or offset of the last record, included.
        offset: Byte where the first record begins, if a reader can start there; null for a stream.
        sha256: Digest of what the pane read of the file (record_digest); null for a stream.
    """

    file: str
    first: int
    last: int
    offset: int | None = None
    sha256: str | None = None


class Shard(Entry):
    """A file of the output directory.

    Attributes:
        name: Name without the folder.
        bytes: Size in bytes.
        sha256: SHA-256 of the content, in hexadecimal.
    """

    name: str
    rows: int
    bytes: int
    sha256: str


class CheckFailure(Entry):
    """A check that failed.

    Attributes:
        subject: Column or attribute that it is about.
        severity: critical quarantines the pane; warning and info are only recorded.
    """

    expectation: str
    subject: str
    observed: str
    severity: Severity = "critical"


class Checks(Entry):
    """Result of the Great Expectations suites on a pane's shards.

    Attributes:
        success: True if no failure is critical.
        evaluated: Number of expectations that were evaluated.
    """

    success: bool
    evaluated: int
    failures: list[CheckFailure]


class Position(Entry):
    """Where a partition stands after a pane.

    Attributes:
        time: Time of the partition's last record, ms since 1970.
    """

    next: int
    time: int


class StreamPane(Entry):
    """A pane of a stream.

    Attributes:
        span: Start of the pane's span of time, ms since 1970.
        part: Number of the pane within that span, from 0.
        positions: Where the partitions with records in the pane stand after it, by number.
    """

    span: int
    part: int
    positions: dict[str, Position]


class PaneEntry(Entry):
    """The ledger's entry of a pane (ledger/PANE.json, PANE in eight digits from 0).

    Attributes:
        pane: Number of the pane, from 0.
        source: The records that the pane was read from.
        input_bytes: Size of these records, decompressed.
        dead: Number of records that became dead letters.
        dead_reasons: Number of dead letters, by kind of reason.
        attributes: Figures and verdicts, by attribute.
        shards: The pane's shards, in order.
        dead_letters: File of the dead letters; null without one.
        stream: The pane's place in its stream; null for files.
        sentence_table: File in sentences/; null without one.
        set_aside: File in quarantine/ with documents that were quarantined alone; null without
            one.
        removed: What gate.scope: documents did; null where nothing had to go.
        llm: What questions to an LLM cost, by prompt (the client's Stats). This is the one figure
            that two runs over the same input need not share.
        reading: Verdict on whether enough of the pane could be read.
        asking: Verdict on whether the LLM answered; null without an LLM.
        epoch: Number of the pane's epoch (schemas.epoch).
        program: What produced the pane, by digests.
        benchmark: Verdict on the last model's benchmark; null if gate.require is empty.
        replaced: Number of documents with a field that has the name of a computed column, and is
            kept as input_NAME, by its name.
        deleted: Number of a topic's records without a value: they delete what had their key, and
            are no documents; left out if there are none.
        mended: Number of documents with a field in which bytes that are no UTF-8 were replaced, or
            a value that columns cannot hold (NaN) became null, by its name; left out if empty.
        extra: Number of documents with fields that fit no column, in the column _extra.
        outside: Number of documents with such a field, by its name; the most frequent ones.
        weights: The documents' weights; null without mode weight.
        left_out: File in set-aside/ with the documents that a sample by weights left out; null
            without one.
        languages: Number of documents by language; left out without measure.by_language.
        other_languages: Number of documents in languages that no word list has, by language: they
            are not judged; left out if there are none.
        measures: What measures that are on found, by name.
    """

    version: int = FORMAT
    pane: int
    source: list[SourceRange]
    input_bytes: int
    text_bytes: int
    documents: int
    dead: int
    dead_reasons: dict[str, int]
    sentences: int | None
    attributes: dict[str, AttributeEntry]
    shards: list[Shard]
    dead_letters: Shard | None
    checks: Checks
    verdict: Verdict
    folder: Folder
    stream: StreamPane | None = None
    sentence_table: Shard | None = None
    set_aside: Shard | None = None
    llm: dict[str, dict[str, Any]] | None = None
    reading: Verdict | None = None
    asking: Verdict | None = None
    epoch: int = 0
    program: dict[str, str] = {}
    benchmark: Verdict | None = None
    replaced: dict[str, int] = {}
    extra: int = 0
    outside: dict[str, int] = {}
    weights: Weights | None = None
    left_out: Shard | None = None
    removed: Removed | None = None
    languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    other_languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    deleted: int = Field(default=0, exclude_if=operator.not_)
    mended: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    measures: dict[str, SerializeAsAny[Measured]] = {}

    def files(self) -> list[tuple[str, Shard]]:
        """All files that the pane has in the output, each with its folder."""
        others = (
            ("dead-letter", self.dead_letters),
            ("quarantine", self.set_aside),
            ("set-aside", self.left_out),
            ("sentences", self.sentence_table),
        )
        return [
            *((self.folder, shard) for shard in self.shards),
            *((folder, file) for folder, file in others if file is not None),
        ]

    def document_files(self) -> list[str]:
        """The names below the output of the files with its documents."""
        return [
            f"{folder}/{file.name}" for folder, file in self.files() if folder in DOCUMENT_FOLDERS
        ]


def of_format_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of format 1, whose measures stood beside the other keys or in attributes."""
    rest, measures = dict(data), dict[str, Any]()
    for name in rest.keys() - PaneEntry.model_fields.keys():
        if rest[name] is None or (is_mapping(rest[name]) and "verdict" in rest[name]):
            measures[name] = rest.pop(name)
    seen: dict[str, Any] = {"attributes": {}, "unlisted": rest.pop("unlisted", {})}
    if is_mapping(attributes := rest.get("attributes")):
        rest["attributes"] = dict(attributes)
        for name, each in attributes.items():
            if is_mapping(each) and "stereotypes" in each:
                rest["attributes"][name] = {k: v for k, v in each.items() if k != "stereotypes"}
                seen["attributes"][name] = each["stereotypes"]
    seen["attributes"] = {name: each for name, each in seen["attributes"].items() if each}
    found = any(seen.values())
    measures["stereotypes"] = seen | {"verdict": UNJUDGED.model_dump()} if found else None
    return rest | {"measures": {name: each for name, each in measures.items() if each}}


META = "ledger/meta.json"  # the settings of a run; a folder that has this is an output


class Epoch(Entry):
    """The panes from one change of program or thresholds up to the next.

    Attributes:
        number: Number of the epoch, from 0.
        program: What produced the panes: versions and digests, by name.
        changes: What differs from the epoch before, one line for each difference.
    """

    number: int = 0
    pane: int = 0
    program: dict[str, str] = Field(default_factory=dict)
    changes: list[str] = Field(default_factory=list)
