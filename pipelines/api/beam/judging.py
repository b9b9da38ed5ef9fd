"""Verdicts on panes, in the order of their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import orjson
from apache_beam import coders, typehints
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import GlobalWindows, TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from evenflow.beam.elements import Configured
from evenflow.gates.judge import PaneJudge
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.verdict import reading_verdict
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import Checks, PaneEntry, Sums, Weights

SUMS, MADE = "sums", "made"  # names of the inputs
DOCUMENTS, DEAD = "documents", "dead_letters"
PASSED = {"success": True, "evaluated": 0, "failures": []}


class JudgePanes(Configured):
    """Judge panes in the order of their times, and within one window by their numbers.

    The input's elements are pairs of a pane's number and its sums, as `CountMentions` gives them.
    Or the input is a dict of collections of such pairs, in the same windows: `sums`, or `made` from
    `MakePanes` with all that the engine judges; and, where wanted, documents and dead_letters, how
    many were read and how many could not be: a pane with more dead letters than gate.most_dead
    allows is blocked.

    A verdict looks back on earlier panes, so one worker judges all panes. Panes that are windows
    are judged one by one as the watermark passes their end, of an endless input too; what earlier
    panes amount to is kept as the transform's state. A verdict has the time of its pane. The
    output's elements are dicts: pane, state (open, warn or block), reason, folder (accepted or
    quarantine), attributes: name -> the ledger's entry (schemas.ledger.AttributeEntry) with pane,
    rolling and cumulative scores, and measures: name -> the ledger's record of each that is on.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values. gate and
            pane.rolling decide when a pane gets a warning or is blocked.
        wordlists: Paths of further word lists, as for `AnnotateDocuments`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> sums = {"documents": 300, "counts": {"female": 0, "male": 300}}
        >>> sums["products"] = [[0, 0], [0, 300]]
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create([(0, {"gender": sums})])
        ...         | JudgePanes({"gate.block": 0.45}, attributes=["gender"])
        ...         | beam.Map(lambda verdict: print(verdict["state"], verdict["folder"]))
        ...     )
        block quarantine
    """

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of pairs: number of a pane, its sums; or a dict of such.

        Returns:
            A PCollection of verdicts.
        """
        given = input_or_inputs if isinstance(input_or_inputs, dict) else {SUMS: input_or_inputs}
        return (
            given
            | beam.CoGroupByKey()
            | "Bring together" >> beam.Map(_together)
            | "One stream" >> beam.WindowInto(GlobalWindows())
            | "Judge" >> beam.ParDo(_Judge(self.settings))
        )


def _together(pane: tuple[int, Mapping[str, Iterable[Any]]]) -> tuple[int, tuple[int, bytes]]:
    """A pane and what is known of it, with one key for all panes."""
    number, parts = pane
    return 0, (number, orjson.dumps({name: list(each) for name, each in parts.items()}))


@typehints.with_input_types(tuple[int, tuple[int, bytes]])
@typehints.with_output_types(dict[str, Any])
class _Judge(beam.DoFn):
    """Judges a pane when the watermark has passed it: until then an earlier one may come."""

    WAITING = BagStateSpec(
        "waiting",  # time in microseconds, number, what is known
        coders.TupleCoder((coders.VarIntCoder(), coders.VarIntCoder(), coders.BytesCoder())),
    )
    JUDGED = ReadModifyWriteStateSpec("judged", coders.BytesCoder())  # numbers still in the bag
    TOTALS = ReadModifyWriteStateSpec("totals", coders.BytesCoder())
    DUE = TimerSpec("due", TimeDomain.WATERMARK)

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def setup(self) -> None:
        """Read the configuration."""
        self._config = Config.model_validate(self._settings)

    def process(
        self,
        element: tuple[int, tuple[int, bytes]],
        time: Any = beam.DoFn.TimestampParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),  # noqa: B008
        due: Any = beam.DoFn.TimerParam(DUE),  # noqa: B008
    ) -> None:
        """Keep a pane until its time."""
        waiting.add((time.micros, *element[1]))
        due.set(time, dynamic_timer_tag=str(time.micros))  # a timer of its own for each time

    @on_timer(DUE)
    def judge(
        self,
        time: Any = beam.DoFn.TimestampParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),  # noqa: B008
        judged: Any = beam.DoFn.StateParam(JUDGED),  # noqa: B008
        totals: Any = beam.DoFn.StateParam(TOTALS),  # noqa: B008
    ) -> Iterator[Any]:
        """Judge the panes up to a time."""
        every, done = list(waiting.read()), set(orjson.loads(judged.read() or b"[]"))
        panes = sorted(each for each in every if each[0] <= time.micros and each[1] not in done)
        if not panes:
            return
        known = totals.read()
        before = Totals.for_run(self._config)
        if known is not None:
            before = Totals.model_validate_json(known)
        found = ((number, orjson.loads(parts)) for _, number, parts in panes)
        for (micros, *_), verdict in zip(
            panes, judge_panes(found, self._config, before), strict=True
        ):
            yield TimestampedValue(verdict, Timestamp(micros=micros))
        totals.write(before.model_dump_json().encode())
        done |= {number for _, number, _ in panes}
        if 2 * len(done) >= len(every):  # not each time: of a long replay many panes wait
            waiting.clear()
            for each in every:
                if each[1] not in done:
                    waiting.add(each)
            done = set[int]()
        judged.write(orjson.dumps(sorted(done)))


def judge_panes(
    panes: Iterable[tuple[int, Mapping[str, Any]]], config: Config, totals: Totals | None = None
) -> Iterator[dict[str, Any]]:
    """Judge panes one after the other.

    Args:
        panes: A pane's number and lists of what is known of it, by the names of `JudgePanes`'
            inputs, in the order of the panes.
        config: Its gate and pane.rolling decide when a pane gets a warning or is blocked.
        totals: What earlier panes amount to; the panes are added to it.

    Yields:
        A verdict for each pane, see `JudgePanes`.
    """
    totals = Totals.for_run(config) if totals is None else totals
    judge = PaneJudge(config, config.word_lists(), totals)
    for number, parts in panes:
        made = next(iter(parts.get(MADE, ())), {})
        figures = _figures(made, next(iter(parts.get(SUMS, ())), {}))
        record = made.get("weights") and Weights.model_validate(made["weights"])
        weighed = {name: Sums.model_validate(own) for name, own in made.get("weighed", {}).items()}
        documents = sum(parts.get(DOCUMENTS, ())) or figures.documents
        dead = sum(parts.get(DEAD, ())) + sum(figures.dead_reasons.values())
        reading = reading_verdict({"unusable": dead}, documents, config.gate.most_dead)
        entry = PaneEntry(
            pane=number,
            source=[],
            input_bytes=0,
            text_bytes=0,
            documents=documents,
            dead=dead,
            dead_reasons={},
            sentences=0,
            attributes=judge.judge(figures, weights=record, weighed=weighed),
            shards=[],
            dead_letters=None,
            checks=Checks.model_validate(made.get("checks", PASSED)),
            verdict=reading,
            folder=reading.folder,
            reading=reading,
            weights=record,
        )
        judge.conclude(entry, figures)
        totals.add(entry)
        yield {
            "pane": number,
            "state": entry.verdict.state,
            "reason": entry.verdict.reason,
            "folder": entry.folder,
            "attributes": {name: each.model_dump() for name, each in entry.attributes.items()},
            "measures": {name: each.model_dump() for name, each in entry.measures.items()},
        }


def _figures(made: Mapping[str, Any], sums: Mapping[str, Mapping[str, Any]]) -> Figures:
    """The figures of a pane: those of `MakePanes`, or the sums of its attributes."""
    if made:
        return Figures.read(made["figures"])
    attributes = {
        name: AttributeFigures(each["documents"], list(each["counts"].values()), each["products"])
        for name, each in sums.items()
    }
    return Figures(attributes=attributes)
