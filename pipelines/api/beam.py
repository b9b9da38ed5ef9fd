"""Transforms for other people's Beam pipelines: annotate documents, count mentions, judge panes.

Example:
    >>> import apache_beam as beam
    >>> from evenflow.beam import AnnotateDocuments, CountMentions, JudgePanes
    >>> documents = [
    ...     (number, {"id": f"{number}-{n}", "text": "He met his father."})
    ...     for number in range(2)
    ...     for n in range(200)
    ... ]
    >>> with beam.Pipeline("BundleBasedDirectRunner") as pipeline:
    ...     panes = (
    ...         pipeline
    ...         | beam.Create(documents)
    ...         | beam.MapTuple(lambda pane, document: {"pane": pane, **document})
    ...         | AnnotateDocuments({"pane.rolling": 1}, attributes=["gender"])
    ...         | beam.WithKeys(lambda document: document["pane"])
    ...         | beam.CombinePerKey(CountMentions({"pane.rolling": 1}, attributes=["gender"]))
    ...         | JudgePanes({"pane.rolling": 1}, attributes=["gender"])
    ...         | beam.Map(lambda verdict: print(verdict["pane"], verdict["state"]))
    ...     )
    0 block
    1 block
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

import apache_beam as beam
import numpy as np
import numpy.typing as npt

from evenflow.gates.judge import PaneJudge, overall
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.explain.document import whole_sentences
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import Checks, PaneEntry, Sums, Verdict
from evenflow.settings import Configuration, configuration
from evenflow.transforms.io.record_parser import RecordParser
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.representation.dr import score

Document: TypeAlias = dict[str, Any]
# Of an attribute with M groups: documents that name it, counts (M,), products (M, M)
_Sums: TypeAlias = tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]


class AnnotateDocuments(beam.PTransform):
    """Find the mentions and sentences of documents.

    The input's elements are dicts with an id and a text, named by the configuration's fields.id and
    fields.text. The output's elements are the same dicts with three more keys:

    - mentions: dicts with start and end (character offsets), label, attribute and group;
    - sentences: dicts with start, end and text;
    - counts: attribute -> group -> number of mentions.

    A document whose text or id is missing or of another type raises ValueError.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values.
        attributes: Names of the attributes that are looked for; empty for all.
        wordlists: Paths of word lists that are looked for too; workers read them there.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> with beam.Pipeline("BundleBasedDirectRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create([{"id": "a", "text": "She came. It rained."}])
        ...         | AnnotateDocuments(attributes=["gender"])
        ...         | beam.Map(lambda document: print(document["counts"]))
        ...     )
        {'gender': {'female': 1, 'male': 0}}
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
    ):
        super().__init__()
        self._settings = configuration(config, attributes, wordlists).model_dump()

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of documents.

        Returns:
            A PCollection of annotated documents.
        """
        return input_or_inputs | beam.ParDo(_Annotate(self._settings))


class CountMentions(beam.CombineFn):
    """Sum the mentions of annotated documents, with DR and its interval.

    For `beam.CombineGlobally`, or `beam.CombinePerKey` with the number of a pane as the key. The
    result maps each attribute to a dict: dr (0 is even; None without a mention), corrected, low
    and high (the interval; None for fewer than two documents), mentions, documents (that name the
    attribute), counts by group, and products (M, M), the sums over documents that the interval
    rests on. Results of parts of the input add up.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values.
        attributes: Names of the attributes, as for `AnnotateDocuments`.
        wordlists: Paths of further word lists, as for `AnnotateDocuments`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> documents = [{"id": "a", "text": "She came."}, {"id": "b", "text": "He and his son."}]
        >>> with beam.Pipeline("BundleBasedDirectRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create(documents)
        ...         | AnnotateDocuments(attributes=["gender"])
        ...         | beam.CombineGlobally(CountMentions(attributes=["gender"]))
        ...         | beam.Map(lambda sums: print(sums["gender"]["counts"], sums["gender"]["dr"]))
        ...     )
        {'female': 1, 'male': 3} 0.25
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
    ):
        super().__init__()
        settings = configuration(config, attributes, wordlists)
        judge = PaneJudge(settings, lists := settings.word_lists(), Totals())
        self._groups = {words.attribute: list(words.groups) for words in lists}
        self._targets = {words.attribute: judge.target(words) for words in lists}
        self._confidence = settings.gate.confidence

    def create_accumulator(self) -> dict[str, _Sums]:
        """Begin with no document.

        Returns:
            Sums by attribute; an attribute that was not named yet is absent.
        """
        return {}

    def add_input(
        self, mutable_accumulator: dict[str, _Sums], element: Mapping[str, Any]
    ) -> dict[str, _Sums]:
        """Add a document.

        Args:
            mutable_accumulator: The sums so far; they are changed.
            element: A document from `AnnotateDocuments`.

        Returns:
            The sums with the document.
        """
        for name, counts in element["counts"].items():
            values = np.array(list(counts.values()), np.int64)
            if values.any():
                one = (1, values, np.outer(values, values))
                mutable_accumulator[name] = _added(mutable_accumulator.get(name), one)
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[dict[str, _Sums]]) -> dict[str, _Sums]:
        """Add up parts.

        Args:
            accumulators: Sums of parts of the input.

        Returns:
            Sums of all of them.
        """
        total: dict[str, _Sums] = {}
        for part in accumulators:
            for name, sums in part.items():
                total[name] = _added(total.get(name), sums)
        return total

    def extract_output(self, accumulator: dict[str, _Sums]) -> dict[str, dict[str, Any]]:
        """Score the sums.

        Args:
            accumulator: Sums of all documents.

        Returns:
            The result, see the class.
        """
        result: dict[str, dict[str, Any]] = {}
        for name, groups in self._groups.items():
            sums = Sums.empty(len(groups))
            if name in accumulator:
                documents, counts, products = accumulator[name]
                sums = Sums(documents=documents, counts=counts.tolist(), products=products.tolist())
            found = score(sums, self._targets[name], self._confidence)
            result[name] = {
                **found.model_dump(),
                "counts": dict(zip(groups, sums.counts, strict=True)),
                "products": sums.products,
            }
        return result


class JudgePanes(beam.PTransform):
    """Judge panes in the order of their numbers.

    The input's elements are pairs of a pane's number and its sums, as `CountMentions` gives them.
    A verdict looks back on earlier panes, so one worker judges all panes. Of an unbounded input, it
    judges the panes of each window. The output's elements are dicts: pane, state (open, warn or
    block), reason, folder (accepted or quarantine), and attributes: name -> the ledger's entry
    (schemas.ledger.AttributeEntry) with pane, rolling and cumulative scores.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values. gate and
            pane.rolling decide when a pane gets a warning or is blocked.
        attributes: Names of the attributes, as for `AnnotateDocuments`.
        wordlists: Paths of further word lists, as for `AnnotateDocuments`.

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
        ...         | JudgePanes(attributes=["gender"])
        ...         | beam.Map(lambda verdict: print(verdict["state"], verdict["folder"]))
        ...     )
        block quarantine
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
    ):
        super().__init__()
        self._settings = configuration(config, attributes, wordlists).model_dump()

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of pairs: number of a pane, its sums.

        Returns:
            A PCollection of verdicts; within a bundle they are in the order of their panes.
        """
        return (
            input_or_inputs
            | "Bring together" >> beam.Map(lambda pane: (0, pane))
            | beam.GroupByKey()
            | beam.Values()
            | "Judge" >> beam.FlatMap(_judged_group, self._settings)
        )


def judge_panes(
    panes: Iterable[tuple[int, Mapping[str, Mapping[str, Any]]]], config: Config
) -> Iterator[dict[str, Any]]:
    """Judge panes one after the other.

    Args:
        panes: A pane's number and its sums, in the order of the panes.
        config: Its gate and pane.rolling decide when a pane gets a warning or is blocked.

    Yields:
        A verdict for each pane, see `JudgePanes`.
    """
    totals = Totals.for_run(config)
    judge = PaneJudge(config, config.word_lists(), totals)
    passed = Checks(success=True, evaluated=0, failures=[])
    readable = Verdict(state="open", reason="")
    for number, sums in panes:
        figures = Figures(
            attributes={
                name: AttributeFigures(
                    each["documents"], list(each["counts"].values()), each["products"]
                )
                for name, each in sums.items()
            }
        )
        attributes = judge.judge(figures)
        coverage = judge.coverage(figures)
        verdict = overall(attributes, passed, readable, None, coverage)
        folder = verdict.folder
        judge.score_accepted(attributes, folder)
        entry = PaneEntry(
            pane=number,
            source=[],
            input_bytes=0,
            text_bytes=0,
            documents=0,
            dead=0,
            dead_reasons={},
            sentences=0,
            attributes=attributes,
            shards=[],
            dead_letters=None,
            checks=passed,
            verdict=verdict,
            folder=folder,
            coverage=coverage,
        )
        totals.add(entry)
        yield {
            "pane": number,
            "state": verdict.state,
            "reason": verdict.reason,
            "folder": folder,
            "attributes": {name: each.model_dump() for name, each in attributes.items()},
        }


class _Annotate(beam.DoFn):
    """Annotates documents; the tables of the word lists are built once a worker."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def setup(self) -> None:
        """Build the tables."""
        config = Config.model_validate(self._settings)
        self._parser = RecordParser(config)
        self._lists = config.word_lists()
        self._finder = LabelFinder(self._lists)

    def process(self, element: Mapping[str, Any]) -> Iterator[Document]:
        """Annotate a document.

        Args:
            element: A dict with an id and a text.

        Yields:
            The document with its mentions, sentences and counts.
        """
        text = self._parser.check_text(element.get(self._parser.text_name))
        self._parser.check_id(element.get(self._parser.id_name))
        found = self._finder.find_all(text)
        mentions = sorted(
            self._finder.named(found), key=lambda each: (each.start, -each.end, each.attribute)
        )
        counts = {each.attribute: dict.fromkeys(each.groups, 0) for each in self._lists}
        for mention in mentions:
            counts[mention.attribute][mention.group] += 1
        yield {
            **element,
            "mentions": [asdict(each) for each in mentions],
            "sentences": [
                {"start": start, "end": end, "text": text[start:end]}
                for start, end in whole_sentences(text, found)
            ],
            "counts": counts,
        }


def _judged_group(
    panes: Iterable[tuple[int, Mapping[str, Any]]], settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The verdicts of panes that come in any order."""
    ordered = sorted(panes, key=lambda pane: pane[0])
    return judge_panes(ordered, Config.model_validate(settings))


def _added(total: _Sums | None, part: _Sums) -> _Sums:
    """Sums of both."""
    if total is None:
        return part
    return total[0] + part[0], total[1] + part[1], total[2] + part[2]
