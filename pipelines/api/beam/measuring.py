"""What measures of panes count, such as coverage and the bias score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam import typehints

from evenflow.beam.annotating import measured, staged_block
from evenflow.beam.elements import Pane, SteppedTransform
from evenflow.schemas.config import Config
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.measures import registry


class _Measure(beam.DoFn):
    """Counts panes; what counts is loaded once a worker."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = measured(Config.model_validate(settings))
        for key in (*registry.SHIPPED, registry.PLUGGED):
            self._settings[key] = settings[key]

    def setup(self) -> None:
        """Build the tables."""
        self._annotator = Annotator(Config.model_validate(self._settings))

    def process(self, element: Pane) -> Iterator[tuple[int, dict[str, Any]]]:
        """Count a pane.

        Args:
            element: The pane.

        Yields:
            Its number and what each measure counted, by name; nothing if all are off.
        """
        pane, documents = element
        if self._annotator.counters:
            yield pane, self._annotator.measure(staged_block("beam", documents)).measures


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
@typehints.with_output_types(tuple[int, dict[str, Any]])
class MeasurePanes(SteppedTransform):
    """Count what measures need of panes: coverage, the bias score, those of other packages.

    The output's elements are pairs of a pane's number and what each measure of the configuration
    counted, by name, for `JudgePanes`. Where no measure is on, there are none. No document is set
    aside or copied for its bias score.

    Args:
        config: As for `AnnotateDocuments`.
        attributes: As for `AnnotateDocuments`.
        wordlists: As for `AnnotateDocuments`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step = _Measure
