"""Transforms of single documents: their mentions, and the filter of stereotypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import apache_beam as beam
import orjson
from apache_beam import typehints
from apache_beam.pvalue import TaggedOutput

from evenflow.beam.elements import ADDED, Configured, Document, SteppedTransform, checked_document
from evenflow.pipelines.explain.document import whole_sentences
from evenflow.schemas.config import Config
from evenflow.schemas.documents import REASON, TEXT
from evenflow.settings import Configuration
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.record_parser import RecordParser
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures import registry

ASIDE = "aside"  # the output of documents that are set aside


class DocumentAnnotator:
    """Annotates documents one by one.

    Args:
        config: The configuration.
    """

    def __init__(self, config: Config):
        self._parser = RecordParser(config)
        self._lists = config.word_lists()
        self._finder = LabelFinder(self._lists)

    def annotate(self, document: Mapping[str, Any]) -> Document:
        """Add the mentions, sentences and counts to a document.

        Args:
            document: A dict with an id and a text.

        Returns:
            A copy with them.

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
class AnnotateDocuments(Configured):
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
        super().__init__(config, attributes=attributes, wordlists=wordlists)
        self._handles = False

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

        Args:
            input_or_inputs: A PCollection of documents.

        Returns:
            A PCollection of annotated documents; see `with_exception_handling`.
        """
        annotate = beam.ParDo(_Annotate(self.settings))
        if self._handles:
            return input_or_inputs | annotate.with_exception_handling(exc_class=ValueError)
        return input_or_inputs | annotate


@typehints.with_input_types(dict[str, Any])
@typehints.with_output_types(dict[str, Any])
class _Annotate(beam.DoFn):
    """Annotates documents; the tables of the word lists are built once a worker."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def setup(self) -> None:
        """Build the tables."""
        self._annotator = DocumentAnnotator(Config.model_validate(self._settings))

    def process(self, element: Mapping[str, Any]) -> Iterator[Document]:
        """Annotate a document.

        Args:
            element: A dict with an id and a text.

        Yields:
            The document with its mentions, sentences and counts.
        """
        yield self._annotator.annotate(element)


@typehints.with_input_types(dict[str, Any])
class _Filter(beam.DoFn):
    """Filters documents one by one; the models are loaded once a worker."""

    def __init__(self, settings: dict[str, Any]):
        # The filter alone: nothing is exchanged or scored here
        config = Config.model_validate(settings)
        self._settings = measured(config)
        self._settings["stereotypes"] = settings["stereotypes"]
        for name, each in self._settings["attributes"].items():
            each["stereotypes"] = settings["attributes"][name]["stereotypes"]

    def setup(self) -> None:
        """Build the tables, and load the models."""
        config = Config.model_validate(self._settings)
        self._text = config.fields.text
        self._filter, self._annotator = Annotator(config), DocumentAnnotator(config)

    def process(self, element: Mapping[str, Any]) -> Iterator[Any]:
        """Filter a document.

        Args:
            element: An annotated document.

        Yields:
            It, or its rest, or it with the reason under the tag `aside`.
        """
        done = self._filter.annotate(staged_block("beam", [element]))
        if done.aside is not None:
            (reason,) = done.aside[REASON.name].to_pylist()
            yield TaggedOutput(ASIDE, {**element, "reason": reason})
        for text in done.table[TEXT.name].to_pylist():
            if text == element[self._text]:
                yield {**element}
            else:
                yield self._annotator.annotate({**element, self._text: text})


@typehints.with_input_types(dict[str, Any])
class FilterStereotypes(SteppedTransform):
    """Act on the strong stereotypes of annotated documents, as the gate does.

    The policy of each attribute (stereotypes.policy) says what is done: flag changes no text,
    remove takes strong sentences out, quarantine sets their document aside. A document whose text
    changed is annotated again. There are two outputs: the documents, and under the tag `aside`
    those that are set aside, with the key `reason`.

    Args:
        config: As for `AnnotateDocuments`.
        attributes: As for `AnnotateDocuments`.
        wordlists: As for `AnnotateDocuments`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> config = {"stereotypes.policy": "remove"}
        >>> with beam.Pipeline("BundleBasedDirectRunner") as pipeline:
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


def measured(config: Config) -> dict[str, Any]:
    """A configuration, as plain data, in which texts are measured and never changed.

    Weights that are a column stay.
    """
    data = config.model_dump()
    keeps = config.repair.realise == "weight"
    for name, each in data["attributes"].items():
        each["mode"] = ["weight"] if keeps and config.weighs(name) else ["measure"]
    data["repair"]["mode"] = ["measure"]
    for name, each in registry.measures().items():
        for section in (data, *data["attributes"].values()):
            if name in section:
                section[name] |= each.off
    data["measures"] = {}
    return data


def staged_block(name: str, documents: Sequence[Mapping[str, Any]], first: int = 0) -> Block:
    """Documents as a block of records, which the engine reads.

    Args:
        name: Stands in the place of a file's name, for ids that are made.
        documents: The documents; what `AnnotateDocuments` added is left out.
        first: Ordinal of the first one.

    Returns:
        The block.

    Raises:
        UnusableError: A document is no dict.
    """
    records = [
        orjson.dumps(
            {key: value for key, value in checked_document(each).items() if key not in ADDED}
        )
        for each in documents
    ]
    return Block(name, first, records, 0)
