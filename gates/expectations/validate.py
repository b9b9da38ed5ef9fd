"""Runs a suite of Great Expectations on a frame, without a data context.

A data context brings the sources and stores of a whole project. A frame in memory needs none of
them: Great Expectations' validator and its engine for pandas do the work.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pandas as pd

# What a result says of where its frame came from
BATCH, SOURCE, CONNECTOR, ASSET = "pane-shards", "pane", "fluent", "shards"
# The part of a context that the validator reads
SILENT: Any = SimpleNamespace(progress_bars={"globally": False, "metric_calculations": False})


@dataclass(frozen=True)
class _Batch:
    """A frame as the validator takes it."""

    id: str
    data: Any
    batch_spec: Any
    batch_markers: Any
    batch_definition: Any


@dataclass(frozen=True)
class _Need:
    """An expectation, and the metrics that it needs."""

    kwargs: dict[str, Any]
    expectation: Any
    format: Any
    metrics: dict[str, Any]
    edges: list[Any]


class Suite:
    """A suite of expectations, which runs on one frame after the other.

    Great Expectations asks each expectation anew for every frame which metrics it needs. On a small
    frame that is nearly all of the work. Here the answers are kept, for as long as an expectation
    has the same arguments. Where anything is unusual, Great Expectations does all of it again, so
    the results are its own.
    """

    def __init__(self, name: str, expectations: Sequence[Any], *, keep: bool):
        """Make a suite.

        Args:
            keep: Whether what its expectations need depends on their arguments alone. Some
                expectations look at the frame.
        """
        from great_expectations.core.expectation_suite import ExpectationSuite

        self._suite = ExpectationSuite(name=name, expectations=list(expectations))
        self._keep = keep
        self._needs: dict[int, _Need] = {}

    def validate(
        self, frame: pd.DataFrame, parameters: dict[str, Any], result_format: dict[str, Any]
    ) -> Any:
        """Run the suite on a frame."""
        from great_expectations import __version__ as version
        from great_expectations.core.batch import BatchMarkers, LegacyBatchDefinition
        from great_expectations.core.batch_spec import RuntimeDataBatchSpec
        from great_expectations.core.expectation_validation_result import (
            ExpectationSuiteValidationResult,
        )
        from great_expectations.core.id_dict import IDDict
        from great_expectations.execution_engine.pandas_batch_data import PandasBatchData
        from great_expectations.execution_engine.pandas_execution_engine import (
            PandasExecutionEngine,
        )
        from great_expectations.util import (
            convert_to_json_serializable,  # pyright: ignore[reportUnknownVariableType]
        )
        from great_expectations.validator.validation_statistics import calc_validation_statistics
        from great_expectations.validator.validator import Validator

        # The lock of bars, which are off, is a semaphore: a killed process would leave it behind
        bars: Any = import_module("tqdm.std")
        bars.TqdmDefaultWriteLock.mp_lock = None
        engine: Any = PandasExecutionEngine()
        spec = RuntimeDataBatchSpec(batch_data="PandasDataFrame")
        now = datetime.datetime.now(datetime.UTC)
        markers = BatchMarkers({"ge_load_time": f"{now:%Y%m%dT%H%M%S.%fZ}"})
        definition = LegacyBatchDefinition(
            datasource_name=SOURCE,
            data_connector_name=CONNECTOR,
            data_asset_name=ASSET,
            batch_identifiers=IDDict({"dataframe": "<DATAFRAME>"}),
        )
        batch = _Batch(BATCH, PandasBatchData(engine, frame), spec, markers, definition)
        validators: Any = Validator  # it takes what has the attributes of a batch
        validator = validators(engine, data_context=SILENT, batches=[batch])
        configurations = validator.process_expectations_for_validation(
            self._suite.expectation_configurations, parameters
        )
        asked = {"result_format": result_format}
        results = self._quickly(validator, configurations, asked) if self._keep else None
        if results is None:
            results = validator.graph_validate(
                configurations=configurations, runtime_configuration=asked
            )
        counts = calc_validation_statistics(results)
        return ExpectationSuiteValidationResult(
            results=results,
            success=counts.success,
            suite_name=self._suite.name,
            statistics={
                "evaluated_expectations": counts.evaluated_expectations,
                "successful_expectations": counts.successful_expectations,
                "unsuccessful_expectations": counts.unsuccessful_expectations,
                "success_percent": counts.success_percent,
            },
            meta={
                "great_expectations_version": version,
                "batch_spec": convert_to_json_serializable(spec),
                "batch_markers": markers,
                "active_batch_definition": convert_to_json_serializable(definition),
            },
            batch_id=BATCH,
        )

    def _quickly(
        self, validator: Any, configurations: Sequence[Any], asked: dict[str, Any]
    ) -> list[Any] | None:
        """The results by what is known of the expectations; None where a metric has none."""
        from great_expectations.validator.validation_graph import ValidationGraph

        engine, calculator = validator.execution_engine, validator.metrics_calculator
        try:
            needs = [
                self._need(at, each, engine, calculator, asked)
                for at, each in enumerate(configurations)
            ]
            edges = [edge for need in needs for edge in need.edges]
            found, aborted = calculator.resolve_validation_graph(
                graph=ValidationGraph(execution_engine=engine, edges=edges),
                runtime_configuration=asked,
            )
            return None if aborted else [_result(need, found, engine) for need in needs]
        except Exception:  # whatever it is, Great Expectations meets it too, and says it
            return None

    def _need(
        self, at: int, configuration: Any, engine: Any, calculator: Any, asked: dict[str, Any]
    ) -> _Need:
        """What the expectation at a place needs."""
        kept = self._needs.get(at)
        if kept is not None and kept.kwargs == configuration.kwargs:
            return kept
        own = deepcopy(configuration)
        own.kwargs.update({"batch_id": BATCH})
        expectation = own.to_domain_obj()
        found = expectation.get_validation_dependencies(
            execution_engine=engine, runtime_configuration=asked
        )
        graph = calculator.build_metric_dependency_graph(
            metric_configurations=found.get_metric_configurations(), runtime_configuration=asked
        )
        self._needs[at] = _Need(
            configuration.kwargs,
            expectation,
            found.result_format,
            found.metric_configurations,
            graph.edges,
        )
        return self._needs[at]


def _result(need: _Need, found: dict[Any, Any], engine: Any) -> Any:
    """An expectation's result, from the metrics of a frame."""
    judged = need.expectation._validate(
        metrics={name: found[metric.id] for name, metric in need.metrics.items()},
        runtime_configuration={"result_format": need.format},
        execution_engine=engine,
    )
    return need.expectation._build_evr(raw_response=judged)
