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
    render_suite_parameter_string,
)
from great_expectations.expectations.metrics.metric_provider import (
    metric_value,  # pyright: ignore[reportUnknownVariableType]
)
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.render.components import (
    LegacyDiagnosticRendererType,
    LegacyRendererType,
    RenderedStringTemplateContent,
)
from great_expectations.render.renderer.renderer import (
    renderer,  # pyright: ignore[reportUnknownVariableType]
)
from great_expectations.render.renderer_configuration import RendererValueType

RECORDED = "A failure is recorded ($severity) and does not quarantine the pane."


def require_columns(frame: Any, columns: Sequence[str]) -> None:
    """Check that a frame has columns.

    Args:
        frame: The frame.
        columns: Their names.

    Raises:
        ValueError: A column is missing.
    """
    if absent := [column for column in columns if column not in frame.columns]:
        raise ValueError(f"no such column: {', '.join(absent)}")


class FrameMetric(TableMetricProvider):
    """A metric of a whole frame; a subclass computes it with `value`."""

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> Any:
        """Compute the metric.

        Args:
            frame: The frame.
            arguments: Values of the metric's value_keys.

        Returns:
            The metric.
        """
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

    A subclass implements `judge`, `statement` and `describe_result`.
    """

    def judge(self, value: Any) -> dict[str, Any]:
        """Judge the metric.

        Args:
            value: Value of the metric.

        Returns:
            {"success": …, "result": {…}}, as Great Expectations reads it.
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
    def statement(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """State what is expected.

        Args:
            kwargs: Arguments of the expectation.

        Returns:
            A template of string.Template, and its parameters.
        """
        raise NotImplementedError

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """Describe what was found.

        Args:
            result: The result that `judge` returned.

        Returns:
            The description; empty if the result holds nothing.
        """
        raise NotImplementedError

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: Any) -> Any:
        """The statement, as Great Expectations' newer renderers need it."""
        template, params = cls.statement(renderer_configuration.kwargs)
        for name, value in params.items():
            renderer_configuration.add_param(
                name=name, param_type=RendererValueType.STRING, value=value
            )
        renderer_configuration.template_str = template
        return renderer_configuration

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    @render_suite_parameter_string
    def _prescriptive_renderer(
        cls,
        configuration: Any = None,
        result: Any = None,
        runtime_configuration: dict[str, Any] | None = None,
        **_: Any,
    ) -> list[RenderedStringTemplateContent]:
        """The statement on a page of the data docs."""
        shown = configuration or result.expectation_config
        template, params = cls.statement(shown.kwargs)
        severity = str(getattr(shown.severity, "value", shown.severity))
        if severity != "critical":
            template, params = f"{template} {RECORDED}", {**params, "severity": severity}
        styling = (runtime_configuration or {}).get("styling")
        content = {"template": template, "params": params, "styling": styling}
        return [
            RenderedStringTemplateContent(
                content_block_type="string_template", string_template=content
            )
        ]

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.OBSERVED_VALUE)
    def _diagnostic_observed_value_renderer(
        cls,
        configuration: Any = None,
        result: Any = None,
        runtime_configuration: dict[str, Any] | None = None,
        **_: Any,
    ) -> str:
        """The description of a result on a page of the data docs."""
        found = result.result if result is not None else None
        return (cls.describe_result(found) if found else "") or "--"
