"""Runs a suite of Great Expectations on a frame, without a data context.

A data context brings the sources and stores of a whole project. A frame in memory needs none of
them: Great Expectations' validator and its engine for pandas do the work.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import isfunction
from types import SimpleNamespace
from typing import Any

import pandas as pd

from evenflow.schemas.guards import is_mapping

# What a result says of where its frame came from
BATCH = "pane-shards"
SPEC = {"batch_data": "PandasDataFrame"}
DEFINITION = {
    "datasource_name": "pane",
    "data_connector_name": "fluent",
    "data_asset_name": "shards",
    "batch_identifiers": {"dataframe": "<DATAFRAME>"},
}
PARAMETER = "$PARAMETER"  # what stands in an expectation for a value of each pane
VALUES = ".unexpected_values"
# The part of a context that the validator reads
SILENT: Any = SimpleNamespace(progress_bars={"globally": False, "metric_calculations": False})


@dataclass
class _Need:
    """An expectation, and the metrics that it needs.

    `named`: Names of its parameters, by argument. `configuration`: As its results name it. `found`:
    What it depends on. `order`: All metrics of these, each after those that it is made of.
    """

    expectation: Any
    named: dict[str, str]
    configuration: Any
    found: Any
    order: list[Any]


class Suite:
    """A suite of expectations, which runs on one frame after the other.

    Great Expectations asks each expectation anew for every frame which metrics it needs. On a small
    frame that is nearly all of the work. Here the answers are kept. Where anything is unusual,
    Great Expectations does all of it again, so the results are its own.
    """

    def __init__(self, name: str, expectations: Sequence[Any], *, keep: bool):
        """Make a suite.

        Args:
            keep: Whether its expectations need the same metrics for each frame. Some look at the
                frame, or have a parameter that a metric depends on.
        """
        from great_expectations.core.expectation_suite import ExpectationSuite

        self._suite = ExpectationSuite(name=name, expectations=list(expectations))
        self._keep = keep
        self._needs: list[_Need] = []

    def validate(
        self, frame: pd.DataFrame, parameters: dict[str, Any], result_format: dict[str, Any]
    ) -> Any:
        """Run the suite on a frame."""
        from great_expectations import __version__ as version
        from great_expectations.core.expectation_validation_result import (
            ExpectationSuiteValidationResult,
        )
        from great_expectations.execution_engine.pandas_batch_data import PandasBatchData
        from great_expectations.execution_engine.pandas_execution_engine import (
            PandasExecutionEngine,
        )
        from great_expectations.validator.validation_statistics import calc_validation_statistics
        from great_expectations.validator.validator import Validator

        # The lock of bars, which are off, is a semaphore: a killed process would leave it behind
        bars: Any = import_module("tqdm.std")
        bars.TqdmDefaultWriteLock.mp_lock = None
        engine: Any = PandasExecutionEngine()
        now = datetime.datetime.now(datetime.UTC)
        markers = {"ge_load_time": f"{now:%Y%m%dT%H%M%S.%fZ}"}
        batch = SimpleNamespace(
            id=BATCH,
            data=PandasBatchData(engine, frame),
            batch_spec=SPEC,
            batch_markers=markers,
            batch_definition=DEFINITION,
        )
        validators: Any = Validator  # it takes what has the attributes of a batch
        validator = validators(engine, data_context=SILENT, batches=[batch])
        asked = {"result_format": result_format}
        results = self._quickly(validator, parameters, asked) if self._keep else None
        if results is None:
            results = validator.graph_validate(
                configurations=self._configured(validator, parameters), runtime_configuration=asked
            )
        counts = calc_validation_statistics(results)._asdict()
        return ExpectationSuiteValidationResult(
            results=results,
            success=counts.pop("success"),
            suite_name=self._suite.name,
            statistics=counts,
            meta={
                "great_expectations_version": version,
                "batch_spec": SPEC,
                "batch_markers": markers,
                "active_batch_definition": DEFINITION,
            },
            batch_id=BATCH,
        )

    def _configured(self, validator: Any, parameters: dict[str, Any]) -> list[Any]:
        """What the suite expects, with the values of parameters."""
        every = self._suite.expectation_configurations
        return validator.process_expectations_for_validation(every, parameters)

    def _quickly(
        self, validator: Any, parameters: dict[str, Any], asked: dict[str, Any]
    ) -> list[Any] | None:
        """The results by what is known of the expectations; None where a metric has none."""
        engine, found = validator.execution_engine, dict[Any, Any]()
        try:
            if not self._needs:
                every = self._configured(validator, parameters)
                self._needs = [_need(each, validator, asked) for each in every]
            for need in self._needs:
                if need.named:
                    need.configuration = _with_values(need, parameters)
            for metric in (metric for need in self._needs for metric in need.order):
                if metric.id in found:
                    continue
                condition = metric.metric_dependencies.get("unexpected_condition")
                if metric.metric_name.endswith(VALUES) and not found[condition.id][0].any():
                    found[metric.id] = []  # to take no values of a column takes as long as many
                else:
                    found |= engine.resolve_metrics([metric], found, asked)
            return [_result(need, found, engine) for need in self._needs]
        except Exception:  # whatever it is, Great Expectations meets it too, and says it
            return None


class _Settled:
    """An expectation whose configuration is made once, not whenever Great Expectations asks."""

    def __init__(self, own: Any, configuration: Any):
        self.own, self.configuration = own, configuration

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(self.own.__class__, name, None)
        return found.__get__(self) if isfunction(found) else getattr(self.own, name)


def _need(own: Any, validator: Any, asked: dict[str, Any]) -> _Need:
    """What an expectation needs."""
    raw = own.get_raw_configuration().kwargs.items()
    own.kwargs.update({"batch_id": BATCH})
    expectation = own.to_domain_obj()
    found = expectation.get_validation_dependencies(
        execution_engine=validator.execution_engine, runtime_configuration=asked
    )
    validator.metrics_calculator.build_metric_dependency_graph(
        metric_configurations=found.get_metric_configurations(), runtime_configuration=asked
    )
    return _Need(
        expectation,
        {key: each[PARAMETER] for key, each in raw if is_mapping(each) and PARAMETER in each},
        expectation.configuration,
        found,
        list(_ordered(found.metric_configurations.values())),
    )


def _with_values(need: _Need, parameters: dict[str, Any]) -> Any:
    """An expectation's configuration with the values of parameters; `results` made it JSON once."""
    values = {argument: parameters[name] for argument, name in need.named.items()}
    for argument, value in values.items():
        setattr(need.expectation, argument, value)
    made = need.expectation.configuration
    if (known := getattr(need.configuration, "as_json", None)) is not None:
        config = known["expectation_config"]
        made.as_json = known | {
            "expectation_config": config | {"kwargs": config["kwargs"] | values}
        }
    return made


def _ordered(metrics: Iterable[Any]) -> Iterator[Any]:
    """Metrics, each after those that it is made of."""
    for metric in metrics:
        yield from _ordered(metric.metric_dependencies.values())
        yield metric


def _result(need: _Need, found: dict[Any, Any], engine: Any) -> Any:
    """An expectation's result, from the metrics of a frame."""
    from great_expectations.core.expectation_validation_result import ExpectationValidationResult

    metrics = need.found.metric_configurations.items()
    judged = _Settled(need.expectation, need.configuration)._validate(
        metrics={name: found[metric.id] for name, metric in metrics},
        runtime_configuration={"result_format": need.found.result_format},
        execution_engine=engine,
    )
    return ExpectationValidationResult(**judged, expectation_config=need.configuration)
