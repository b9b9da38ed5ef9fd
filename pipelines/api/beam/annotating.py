"""Transforms of single documents: their mentions, and the filter of stereotypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import apache_beam as beam
from apache_beam import typehints
from apache_beam.pvalue import TaggedOutput

from evenflow.beam.elements import Document, SteppedTransform, checked_document
from evenflow.beam.steps import PaneStep, staged_block, without_measures
from evenflow.pipelines.explain.document import whole_sentences
from evenflow.schemas.config import Config
from evenflow.schemas.documents import REASON, TEXT
from evenflow.transforms.io.record_parser import RecordParser
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes.measure import StereotypeMeasure

ASIDE = "aside"  # the output of documents that are set aside


class DocumentAnnotator:
    """Annotates documents one by one.

    Raises:
        WordListError: A word list cannot be used.
    """

    def __init__(self, config: Config):
        self._parser = RecordParser(config)
        self._lists = config.word_lists()
        self._finder = LabelFinder(self._lists)

    def annotate(self, document: Mapping[str, Any]) -> Document:
        """Add the mentions, sentences and counts to a document.

        Raises:
            UnusableError: It is no dict; its text or id is missing, of another type, or too long.
        """
        text = self._parser.check_text(checked_document(document).get(self._parser.text_name))
        self._parser.check_id(document.get(self._parser.id_name))
        found = self._finder.find_all(text)
        mentions = sorted(
            self._finder.named(found), key=lambda each: (each.start, -each.end, each.attribute)
        )
        counts = {each.attribute: dict.fromkeys(each.groups, 0) for each in self._lists}
        for mention in mentions:
            counts[mention.attribute][mention.group] += 1
        return {
            **document,
            "mentions": [asdict(each) for each in mentions],
            "sentences": [
                {"start": start, "end": end, "text": text[start:end]}
                for start, end in whole_sentences(text, found)
            ],
            "counts": counts,
        }


@typehints.with_input_types(dict[str, Any])
@typehints.with_output_types(dict[str, Any])
class _Annotate(beam.DoFn):
    """Annotates documents one by one; the tables of word lists are built once a worker."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def setup(self) -> None:
        """Build the tables of the word lists."""
        self._annotator = DocumentAnnotator(Config.model_validate(self._settings))

    def process(self, element: Mapping[str, Any]) -> Iterator[Document]:
        """Annotate a document."""
        yield self._annotator.annotate(element)


@typehints.with_input_types(dict[str, Any])
class AnnotateDocuments(SteppedTransform):
    """Find the mentions and sentences of documents.

    The input's elements are dicts with an id and a text, named by the configuration's fields.id and
    fields.text. The output's elements are the same dicts with three more keys:

    - mentions: dicts with start and end (character offsets), label, attribute and group;
    - sentences: dicts with start, end and text;
    - counts: attribute -> group -> number of mentions.

    A document that is no dict, or whose text or id is missing, of another type or too long, raises
    ValueError. With
    `with_exception_handling()` there are two outputs, as of Beam's own ParDo: the annotated
    documents, and pairs of what could not be annotated and the reason.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values.
        attributes: Names of the attributes that are looked for; empty for all.
        wordlists: Paths of word lists that are looked for too; workers read them there.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create([{"id": "a", "text": "She came. It rained."}])
        ...         | AnnotateDocuments(attributes=["gender"])
        ...         | beam.Map(lambda document: print(document["counts"]))
        ...     )
        {'gender': {'female': 1, 'male': 0}}
    """

    _step = _Annotate
    _handles = False

    def with_exception_handling(self) -> AnnotateDocuments:
        """Give what cannot be annotated as a second output.

        Returns:
            This transform. Applied, it gives the annotated documents, and pairs of an element and
            (class of the error, its message, traceback).
        """
        self._handles = True
        return self

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Returns:
            A PCollection of annotated documents; see `with_exception_handling`.
        """
        if not self._handles:
            return super().expand(input_or_inputs)
        annotate = beam.ParDo(self._step(self.settings))
        return input_or_inputs | annotate.with_exception_handling(exc_class=ValueError)


@typehints.with_input_types(dict[str, Any])
class _Filter(PaneStep):
    """Filters documents one by one."""

    def narrow(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Leave repair, weights and other measures out."""
        for section in (settings["repair"], *settings["attributes"].values()):
            section["mode"] = ["measure"]
        settings["measures"] = {}
        return without_measures(settings, {StereotypeMeasure.name})

    def setup(self) -> None:
        """Build the tables, and load the models."""
        super().setup()
        self._documents = DocumentAnnotator(self.config)

    def process(self, element: Mapping[str, Any]) -> Iterator[Any]:
        """Filter a document."""
        name = self.config.fields.column
        done = self.annotator.annotate(staged_block("beam", [element]))
        if done.aside is not None:
            (reason,) = done.aside[REASON.name].to_pylist()
            yield TaggedOutput(ASIDE, {**element, "reason": reason})
        for text in done.table[TEXT.name].to_pylist():
            if text == element[name]:
                yield {**element}
            else:
                yield self._documents.annotate({**element, name: text})


@typehints.with_input_types(dict[str, Any])
class FilterStereotypes(SteppedTransform):
    """Act on the strong stereotypes of annotated documents, as the gate does.

    The action of each attribute (stereotypes.action) says what is done: flag changes no text,
    remove takes strong sentences out, quarantine sets their document aside. A document whose text
    changed is annotated again. There are two outputs: the documents, and under the tag `aside`
    those that are set aside, with the key `reason`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> config = {"stereotypes.action": "remove"}
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     kept, aside = (
        ...         pipeline
        ...         | beam.Create([{"id": "a", "text": "She came. It rained."}])
        ...         | AnnotateDocuments(config, attributes=["gender"])
        ...         | FilterStereotypes(config, attributes=["gender"])
        ...     )
        ...     _ = kept | beam.Map(lambda document: print(document["text"]))
        She came. It rained.
    """

    _step, _outputs = _Filter, ("kept", ASIDE)
