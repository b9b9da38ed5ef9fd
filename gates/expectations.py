"""Great Expectations over a pane's shard frame."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from evenflow.schemas.ledger import AttributeEntry, Checks, Failure


class SuiteError(ValueError):
    """A suite of the user's that cannot be used; the message names file and entry."""


class PaneChecks:
    """Runs the suite on each pane; the context, its suite and data docs live in root/checks."""

    def __init__(self, root: Path, user_suite: Path | None = None):
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        import great_expectations as gx

        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        self._gx: Any = gx  # its stubs export none of the expectations
        self._context: Any = gx.get_context(mode="file", project_root_dir=str(root / "checks"))
        self._context.variables.progress_bars = {"globally": False, "metric_calculations": False}
        source = self._context.data_sources.add_or_update_pandas("pane")
        self._batch = source.add_dataframe_asset("shards").add_batch_definition_whole_dataframe("pane")
        self._own = self._load(user_suite)

    def _load(self, path: Path | None) -> list[Any]:
        if path is None:
            return []
        try:
            rows: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise SuiteError(f"{path}: cannot be read: {error}") from error
        out = []
        entries: list[Any] = rows if isinstance(rows, list) else [None]
        for number, row in enumerate(entries, 1):
            kind: Any = row.get("type") if isinstance(row, dict) else None
            name = "".join(part.title() for part in kind.split("_")) if isinstance(kind, str) else ""
            known = getattr(self._gx.expectations, name, None)
            if known is None:
                raise SuiteError(f"{path}: entry {number}: {kind!r} is no expectation of Great Expectations")
            try:
                out.append(known(**row.get("kwargs", {})))
            except (TypeError, ValueError) as error:
                raise SuiteError(f"{path}: entry {number}: {kind}: {error}") from error
        return out

    def run(self, pane: int, frame: pd.DataFrame, attributes: dict[str, AttributeEntry]) -> Checks:
        """Check a pane's frame: id, text and mentions_ATTRIBUTE_GROUP columns, against the figures of its attributes."""
        expect = self._gx.expectations
        frame = frame.assign(text_length=frame["text"].str.len()).drop(columns="text")
        suite = self._gx.ExpectationSuite(name=f"pane-{pane:08d}")
        checks: list[Any] = [
            expect.ExpectColumnValuesToNotBeNull(column="id"),
            expect.ExpectColumnValuesToBeUnique(column="id"),
            expect.ExpectColumnValuesToBeBetween(column="text_length", min_value=1),
        ]
        for name, each in attributes.items():
            for group, count in zip(each.groups, each.sums.counts, strict=True):
                column = f"mentions_{name}_{group}"
                checks += [
                    expect.ExpectColumnValuesToBeBetween(column=column, min_value=0),
                    expect.ExpectColumnSumToBeBetween(column=column, min_value=count, max_value=count),
                ]
        for check in [*checks, *self._own] if len(frame) else []:
            suite.add_expectation(check)
        result = self._batch.get_batch(batch_parameters={"dataframe": frame}).validate(suite)
        failures = [
            Failure(
                expectation=each.expectation_config.type,
                subject=str(each.expectation_config.kwargs.get("column", "pane")),
                observed=str(each.result.get("observed_value", each.result.get("unexpected_count", each.exception_info))),
            )
            for each in result.results
            if not each.success
        ]
        failures.sort(key=lambda failure: (failure.expectation, failure.subject))
        return Checks(success=not failures, evaluated=len(result.results), failures=failures)

    def docs(self) -> Path | None:
        """Build the data docs."""
        self._context.build_data_docs()
        return None
