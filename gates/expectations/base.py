"""Base of the project's own expectations.

Each states in a sentence what it expects, and describes in words what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import (
    BatchExpectation,
)
from great_expectations.expectations.metrics.metric_provider import (
    metric_value,  # pyright: ignore[reportUnknownVariableType]
)
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider


def require_columns(frame: Any, columns: Sequence[str]) -> None:
    """Check that a frame has columns."""
    if absent := [column for column in columns if column not in frame.columns]:
        raise ValueError(f"no such column: {', '.join(absent)}")


class FrameMetric(TableMetricProvider):
    """A metric of a whole frame; a subclass computes it with `value`."""

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> Any:
        """Compute the metric."""
        raise NotImplementedError

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> Any:
        """The metric of the frame that an engine holds."""
        engine: Any = execution_engine  # its method's types are unknown
        frame, _, _ = engine.get_compute_domain(
            metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE
        )
        return cls.value(frame, metric_value_kwargs)


class StatedExpectation(BatchExpectation):
    """An expectation on a whole batch, from one metric.

    A subclass implements `judge` and `describe_result`.
    """

    def judge(self, value: Any) -> dict[str, Any]:
        """Judge the metric.

        Returns {"success": …, "result": {…}}, as Great Expectations reads it.
        """
        raise NotImplementedError

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        """The result of the expectation's one metric."""
        (metric,) = self.metric_dependencies
        return self.judge(metrics[metric])

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """Describe what was found."""
        raise NotImplementedError
