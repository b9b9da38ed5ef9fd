"""Runs a suite of Great Expectations on a frame, without a data context.

A data context brings the sources and stores of a whole project. A frame in memory needs none of
them: Great Expectations' validator and its engine for pandas do the work.
"""

from __future__ import annotations

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


def validate(
    suite: Any, frame: pd.DataFrame, parameters: dict[str, Any], result_format: dict[str, Any]
) -> Any:
    """Run a suite on a frame."""
    from great_expectations import __version__ as version
    from great_expectations.core.batch import LegacyBatchDefinition
    from great_expectations.core.batch_spec import RuntimeDataBatchSpec
    from great_expectations.core.expectation_validation_result import (
        ExpectationSuiteValidationResult,
    )
    from great_expectations.core.id_dict import IDDict
    from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
    from great_expectations.util import (
        convert_to_json_serializable,  # pyright: ignore[reportUnknownVariableType]
    )
    from great_expectations.validator.validation_statistics import calc_validation_statistics
    from great_expectations.validator.validator import Validator

    # The lock of bars, which are off, is a semaphore: a killed process would leave it behind
    bars: Any = import_module("tqdm.std")
    bars.TqdmDefaultWriteLock.mp_lock = None
    engine: Any = PandasExecutionEngine()
    spec = RuntimeDataBatchSpec(batch_data=frame)
    data, markers = engine.get_batch_data_and_markers(batch_spec=spec)
    definition = LegacyBatchDefinition(
        datasource_name=SOURCE,
        data_connector_name=CONNECTOR,
        data_asset_name=ASSET,
        batch_identifiers=IDDict({"dataframe": "<DATAFRAME>"}),
    )
    batch = _Batch(BATCH, data, spec, markers, definition)
    validators: Any = Validator  # it takes what has the attributes of a batch
    validator = validators(engine, data_context=SILENT, batches=[batch])
    results = validator.graph_validate(
        configurations=validator.process_expectations_for_validation(
            suite.expectation_configurations, parameters
        ),
        runtime_configuration={"result_format": result_format},
    )
    counts = calc_validation_statistics(results)
    return ExpectationSuiteValidationResult(
        results=results,
        success=counts.success,
        suite_name=suite.name,
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
