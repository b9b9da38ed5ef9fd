"""Brings documents together as panes: pairs of a pane's number and all its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import apache_beam as beam
from apache_beam import typehints

from evenflow.beam.elements import Document, Pane, checked, checked_document
from evenflow.settings import Configuration


@typehints.with_input_types(dict[str, Any])
@typehints.with_output_types(tuple[int, dict[str, Any]])
class KeyByPane(beam.PTransform):
    """Give each document the number of its pane: the start of its window in milliseconds.

    Args:
        number: Returns the number of a document's pane, from 0; None: its window says it.

    Example:
        >>> import apache_beam as beam
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create([{"id": "7", "text": "She came."}])
        ...         | KeyByPane(lambda document: int(document["id"]) // 5)
        ...         | beam.MapTuple(lambda pane, document: print(pane, document["id"]))
        ...     )
        1 7
    """

    def __init__(self, number: Callable[[Document], int] | None = None):
        super().__init__()
        self._number = number

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform."""
        return input_or_inputs | beam.Map(_keyed, self._number)


def _keyed(
    document: Document,
    number: Callable[[Document], int] | None,
    window: Any = beam.DoFn.WindowParam,
) -> tuple[int, Document]:
    """A document with the number of its pane."""
    pane = window.start.micros // 1000 if number is None else number(document)
    return pane, document


@typehints.with_input_types(tuple[int, dict[str, Any]])
@typehints.with_output_types(tuple[int, list[dict[str, Any]]])
class GroupPanes(beam.PTransform):
    """Bring the documents of each pane together, in an order that no runner changes.

    Args:
        config: As for `AnnotateDocuments`; its fields of ids and texts give the order.

    Raises:
        ConfigError: The configuration cannot be used.
    """

    def __init__(self, config: Configuration = None):
        super().__init__()
        fields = checked(config).fields
        self._order = (fields.id, fields.column)

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of pairs of a pane's number and a document.
        """
        return input_or_inputs | beam.GroupByKey() | beam.Map(_ordered, self._order)


def _ordered(grouped: tuple[int, Iterable[Document]], order: tuple[str, ...]) -> Pane:
    """A pane whose documents are in the order of some of their fields."""
    pane, documents = grouped[0], list(map(checked_document, grouped[1]))
    return pane, sorted(documents, key=lambda each: [str(each.get(name)) for name in order])
