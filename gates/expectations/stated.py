"""Base of the project's own expectations: each states in a sentence what it wants, and in words
what was seen.
"""

from __future__ import annotations

from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import (
    BatchExpectation,
    render_suite_parameter_string,
)
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.render.components import (
    LegacyDiagnosticRendererType,
    LegacyRendererType,
    RenderedStringTemplateContent,
)
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.renderer_configuration import (
    RendererConfiguration,
    RendererValueType,
)

RECORDED = "Where it does not hold, that is recorded ($severity), and sets no pane aside."


class FrameMetric(TableMetricProvider):
    """A metric of a whole frame; a subclass computes it with value."""

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> Any:
        """The metric of a frame."""
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
        frame, _, _ = execution_engine.get_compute_domain(
            metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE
        )
        return cls.value(frame, metric_value_kwargs)


class StatedExpectation(BatchExpectation):
    """An expectation on a whole batch, from one metric.

    A subclass judges the metric, and states itself with sentence and words.
    """

    def judged(self, seen: Any) -> dict[str, Any]:
        """What Great Expectations reads of a validation, from the metric's value."""
        raise NotImplementedError

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        (metric,) = self.metric_dependencies
        return self.judged(metrics[metric])

    @classmethod
    def sentence(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """A template of string.Template, and its parameters, from the expectation's arguments."""
        raise NotImplementedError

    @classmethod
    def words(cls, result: dict[str, Any]) -> str:
        """What a result holds, for people; empty where it holds nothing."""
        raise NotImplementedError

    @classmethod
    def _prescriptive_template(
        cls, renderer_configuration: RendererConfiguration
    ) -> RendererConfiguration:
        template, params = cls.sentence(renderer_configuration.kwargs)
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
        shown = configuration or result.expectation_config
        template, params = cls.sentence(shown.kwargs)
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
        return (cls.words(result.result) if result is not None and result.result else "") or "--"
