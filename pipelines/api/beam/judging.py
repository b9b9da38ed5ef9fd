"""Verdicts on panes, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam

from evenflow.beam.elements import Windowed
from evenflow.gates.judge import PaneJudge
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.verdict import reading_verdict
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import Checks, PaneEntry, Sums, Weights

SUMS, CHECKS, WEIGHTS = "sums", "checks", "weights"  # names of the inputs
DOCUMENTS, DEAD, MEASURES = "documents", "dead_letters", "measures"


class JudgePanes(Windowed):
    """Judge panes in the order of their numbers.

    The input's elements are pairs of a pane's number and its sums, as `CountMentions` gives them.
    Or the input is a dict of collections of such pairs, `sums` and any of these:

    - checks, from `CheckPane`: a pane whose critical checks failed is blocked;
    - weights, from `WeightDocuments`: the weighted sums are judged;
    - measures, from `MeasurePanes`: coverage, the bias score and others are judged too;
    - documents and dead_letters, how many were read and how many could not be: a pane with more
      dead letters than gate.most_dead allows is blocked.

    A verdict looks back on earlier panes, so one worker judges all panes. Of an unbounded input, it
    judges the panes of each window. The output's elements are dicts: pane, state (open, warn or
    block), reason, folder (accepted or quarantine), attributes: name -> the ledger's entry
    (schemas.ledger.AttributeEntry) with pane, rolling and cumulative scores, and measures: name ->
    the ledger's record of each that is on.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values. gate and
            pane.rolling decide when a pane gets a warning or is blocked.
        wordlists: Paths of further word lists, as for `AnnotateDocuments`.
        within: The windows in which panes are judged together; None: those of the input. Panes that
            are windows themselves need larger ones, such as beam.window.GlobalWindows() for a
            bounded input.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> sums = {"documents": 300, "counts": {"female": 0, "male": 300}}
        >>> sums["products"] = [[0, 0], [0, 300]]
        >>> with beam.Pipeline("BundleBasedDirectRunner") as pipeline:
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
            A PCollection of verdicts; within a bundle they are in the order of their panes.
        """
        given = input_or_inputs if isinstance(input_or_inputs, dict) else {SUMS: input_or_inputs}
        return (
            self.windowed(given)
            | beam.CoGroupByKey()
            | "Bring together" >> beam.Map(lambda pane: (0, pane))
            | beam.GroupByKey()
            | beam.Values()
            | "Judge"
            >> beam.FlatMap(_judged_group, self.settings).with_output_types(dict[str, Any])
        )


def judge_panes(
    panes: Iterable[tuple[int, Mapping[str, Mapping[str, Any]]]],
    config: Config,
    checks: Mapping[int, Checks] | None = None,
    weights: Mapping[int, Mapping[str, Any]] | None = None,
    read: Mapping[int, tuple[int, int]] | None = None,
    counted: Mapping[int, Mapping[str, dict[str, Any]]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Judge panes one after the other.

    Args:
        panes: A pane's number and its sums, in the order of the panes.
        config: Its gate and pane.rolling decide when a pane gets a warning or is blocked.
        checks: Results of the checks, by the pane's number; a pane without one has passed.
        weights: What `WeightDocuments` gives of the weights, by the pane's number.
        read: Numbers of documents and of dead letters, by the pane's number.
        counted: What `MeasurePanes` gives, by the pane's number.

    Yields:
        A verdict for each pane, see `JudgePanes`.
    """
    totals = Totals.for_run(config)
    judge = PaneJudge(config, config.word_lists(), totals)
    passed = Checks(success=True, evaluated=0, failures=[])
    for number, sums in panes:
        figures = _figures(sums, (counted or {}).get(number, {}))
        record, weighed = _weights((weights or {}).get(number))
        documents, dead = (read or {}).get(number, (0, 0))
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
            checks=(checks or {}).get(number, passed),
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
            "measures": {name: each.model_dump() for name, each in entry.measures.items() if each},
        }


def _figures(sums: Mapping[str, Mapping[str, Any]], counted: Mapping[str, Any]) -> Figures:
    """The figures of a pane, from the sums of its attributes and what measures counted."""
    attributes = {
        name: AttributeFigures(each["documents"], list(each["counts"].values()), each["products"])
        for name, each in sums.items()
    }
    return Figures(attributes=attributes, measures=dict(counted))


def _weights(given: Mapping[str, Any] | None) -> tuple[Weights | None, dict[str, Sums]]:
    """The ledger's record of a pane's weights, and its weighted sums; none without weights."""
    if given is None:
        return None, {}
    weighed = {name: Sums.model_validate(each) for name, each in given["sums"].items()}
    return Weights.model_validate(given["record"]), weighed


def _judged_group(
    panes: Iterable[tuple[int, Mapping[str, Iterable[Any]]]], settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The verdicts of panes that come in any order, with what is known of each."""
    ordered = sorted(panes, key=lambda pane: pane[0])

    def found(name: str) -> dict[int, Any]:
        return {number: each for number, parts in ordered for each in parts.get(name, ())}

    checks = {number: Checks.model_validate(each) for number, each in found(CHECKS).items()}
    sums = ((number, each) for number, parts in ordered for each in parts[SUMS])
    dead = found(DEAD)
    read = {number: (each, dead.get(number, 0)) for number, each in found(DOCUMENTS).items()}
    config = Config.model_validate(settings)
    return judge_panes(sums, config, checks, found(WEIGHTS), read, found(MEASURES))
