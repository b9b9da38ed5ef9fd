"""The ledger: one JSON file a pane, the only truth about what was measured, judged and committed.

Every figure here is a pure function of the input, the word lists and the configuration. Wall-clock
times are kept apart (`gate/timings.jsonl`), so that two runs over the same input write the same
ledger byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

State = Literal["open", "warn", "block"]
Folder = Literal["accepted", "quarantine"]
Severity = Literal["critical", "warning", "info"]
STATES: tuple[State, ...] = ("open", "warn", "block")


class Entry(BaseModel):
    """Base of the ledger's records: unknown keys are an error, so that a newer ledger is never half
    understood.
    """

    model_config = ConfigDict(extra="forbid")


class Sums(Entry):
    """What the interval of DR needs, additive over documents. M groups, in the word list's order.

    documents: number of documents with at least one mention. counts: sum of c_d, (M,). products:
    sum of c_d c_d^T, (M, M).
    """

    documents: int
    counts: Sequence[int | float]  # of weighted documents they are no whole numbers
    products: Sequence[Sequence[int | float]]

    @classmethod
    def empty(cls, groups: int) -> Sums:
        """Of no documents, for M groups."""
        return cls(documents=0, counts=[0] * groups, products=[[0] * groups] * groups)


class Score(Entry):
    """A Demographic Representation score with its interval.

    dr: plug-in estimate, 0 is even; null where nothing was mentioned. corrected: dr less its upward
    small-sample bias, not below 0. low, high: bounds of the confidence interval. mentions,
    documents: the base of the figure.
    """

    dr: float | None
    corrected: float | None
    low: float | None
    high: float | None
    mentions: int
    documents: int


class Verdict(Entry):
    """open, warn or block, and why, in a sentence for people. judged: False where there was too
    little to judge.
    """

    state: State
    reason: str
    judged: bool = True


class Heavy(Entry):
    """A document that weighs much: its id, mentions per group, and the beginning of its text (not
    escaped: data).
    """

    id: str
    counts: list[int]
    snippet: str


class Substitution(Entry):
    """Words that were exchanged for others, how often, and the first such sentence (data: not
    escaped, cut short).
    """

    said: str
    instead: str
    target: str
    count: int
    id: str
    before: str
    after: str


class Repair(Entry):
    """What was done to make an attribute of a pane even.

    before: sums of the text before substitution, after the filter of stereotypes. score_before: its
    score. expected_dr: what the plan leads to on average; None without a plan. shortage (M,):
    mentions that a group still lacks under the plan. mentions (M,): after, not weighted. sets:
    mentions that hang together, of them eligible, changed; barred: the others by their reason;
    judged: exchanges that were drawn and that the encoder judged. sentences, documents: changed.
    copies: documents added. weights: least and greatest, None in other modes.
    """

    mode: Literal["substitute", "augment", "reweight"]
    strictness: float
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
    weights: tuple[float, float] | None = None
    substitutions: list[Substitution] = []


class Filtered(Entry):
    """What was found of stereotypes of an attribute's groups in a pane.

    asked: sentences that were looked at; unsure: of them without a clear answer, potential: that
    may state a stereotype, strong: of these the ones above the threshold, which the policy is for.
    cut: the probability from which remove and quarantine act, null where no precision is known
    (then they do not); kept: strong ones below it, which stayed. examples: the strongest, {id,
    sentence, score, reasons}, data: not escaped.
    """

    policy: Literal["flag", "remove", "quarantine"]
    threshold: float
    cut: float | None = None
    asked: int = 0
    unsure: int = 0
    potential: int = 0
    strong: int = 0
    kept: int = 0
    examples: list[dict[str, str | float]] = []


class AttributeEntry(Entry):
    """One attribute of one pane. groups and target have M items each, in the same order as
    sums.counts.

    rolling: of the last accepted panes and this one, which the verdict is from: what accepted/
    would be like with it. stream: of the last panes as they came, whatever became of them, and
    stream_verdict: what the same thresholds say of it. cumulative: of all panes so far. accepted:
    of all that is in accepted/ after this pane.
    """

    groups: list[str]
    target: list[float]
    sums: Sums
    pane: Score
    rolling: Score
    cumulative: Score
    verdict: Verdict
    relevant_sentences: int
    labels: dict[str, int]
    heavy: list[Heavy]
    stream: Score | None = None
    stream_verdict: Verdict | None = None
    accepted: Score | None = None
    repair: Repair | None = None
    stereotypes: Filtered | None = None


class SourceRange(Entry):
    """Records first..last (ordinals from 0, both included) of a file, dead letters among them.

    offset: the byte where the first record begins, where a reader may begin there. sha256: of what
    the pane has read of it (record_digest). Of a stream: file is kafka:TOPIC/PARTITION, first..last
    are offsets, and there is neither.
    """

    file: str
    first: int
    last: int
    offset: int | None = None
    sha256: str | None = None


class Shard(Entry):
    """A file of the output directory: name without folder, rows, size in bytes, SHA-256 in
    hexadecimal.
    """

    name: str
    rows: int
    bytes: int
    sha256: str


class CheckFailure(Entry):
    """A check that did not hold: the expectation's name, its column or attribute, and what was
    seen.

    severity: critical sets the pane aside, warning and info are recorded alone.
    """

    expectation: str
    subject: str
    observed: str
    severity: Severity = "critical"


class Checks(Entry):
    """Result of the Great Expectations suites over the pane's shards; success: no failure is
    critical.
    """

    success: bool
    evaluated: int
    failures: list[CheckFailure]


class Position(Entry):
    """Where a partition stands after a pane: the offset to read next, and the time of its last
    record in ms since 1970.
    """

    next: int
    time: int


class StreamPane(Entry):
    """A pane of a stream.

    span: the start of its span of time, ms since 1970. part: from 0, within that span. positions:
    where the partitions with records in it stand after it, by number.
    """

    span: int
    part: int
    positions: dict[str, Position]


class PaneEntry(Entry):
    """The ledger's entry of a pane (ledger/PANE.json, PANE in eight digits from 0).

    reading: whether enough of it could be read. asking: whether the LLM answered, where one is.
    epoch: number of the epoch (schemas.epoch) that it is of; program: what made it, by digests.

    sentence_table, set_aside: files in sentences/ and quarantine/. llm: what asking an LLM cost, by
    prompt (inference.Stats); the one figure that two runs over the same input need not share.
    """

    version: int = 1
    pane: int
    source: list[SourceRange]
    input_bytes: int
    text_bytes: int
    documents: int
    dead: int
    dead_reasons: dict[str, int]
    sentences: int
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
