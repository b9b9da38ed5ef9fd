"""What measures of panes count, such as coverage and the bias score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apache_beam import typehints

from evenflow.beam.elements import Pane, SteppedTransform
from evenflow.beam.steps import PaneStep, staged_block
from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry


class _Measure(PaneStep):
    """Counts panes."""

    sections = (
        *(name for name in registry.SHIPPED if name in Config.model_fields),
        *("reference", registry.PLUGGED),
    )

    def process(self, element: Pane) -> Iterator[tuple[int, dict[str, Any]]]:
        """Count a pane."""
        pane, documents = element
        if self.annotator.counters:
            yield pane, self.annotator.measure(staged_block("beam", documents)).measures


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
@typehints.with_output_types(tuple[int, dict[str, Any]])
class MeasurePanes(SteppedTransform):
    """Count what measures need of panes: coverage, the bias score, those of other packages.

    The output's elements are pairs of a pane's number and what each measure of the configuration
    counted, by name, for `JudgePanes`. Where no measure is on, there are none. No document is set
    aside or copied for its bias score.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step = _Measure
