"""The Great Expectations project in an output directory: checks/gx/ with each pane's results,
checks/data_docs/ to look at.

All of it can be made anew, the ledger is the truth. What a killed process left half written is
replaced: the configuration and the suites at each start, a pane's results when the pane is checked
again.
"""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import yaml

# Panes that the data docs show: a page takes some hundredths of a second, and nobody opens
# thousands
LATEST = 50
LATEST_FAILED = 50  # panes with failures that they show besides
SITE = "data_docs"
HEADER = "# Written anew at each start of a run: changes are lost.\n"


def _backend(folder: str) -> dict[str, Any]:
    return {
        "class_name": "TupleFilesystemStoreBackend",
        "base_directory": folder,
        "suppress_store_backend_id": True,
    }


def _view(name: str) -> dict[str, str]:
    return {"module_name": "evenflow.gates.expectations.docs_view", "class_name": name}


def _configuration() -> dict[str, Any]:
    """great_expectations.yml; folders are relative to its own."""
    return {
        "config_version": 4.0,
        "analytics_enabled": False,
        "progress_bars": {"globally": False, "metric_calculations": False},
        "stores": {
            "expectations_store": {
                "class_name": "ExpectationsStore",
                "store_backend": _backend("expectations/"),
            },
            "validation_results_store": {
                "class_name": "ValidationResultsStore",
                "store_backend": _backend("validations/"),
            },
            "checkpoint_store": {
                "class_name": "CheckpointStore",
                "store_backend": _backend("checkpoints/"),
            },
            "validation_definition_store": {
                "class_name": "ValidationDefinitionStore",
                "store_backend": _backend("validation_definitions/"),
            },
        },
        "expectations_store_name": "expectations_store",
        "validation_results_store_name": "validation_results_store",
        "checkpoint_store_name": "checkpoint_store",
        "data_docs_sites": {
            SITE: {
                "class_name": "SiteBuilder",
                "show_how_to_buttons": False,
                "store_backend": _backend("../data_docs/"),
                "site_index_builder": {
                    "class_name": "DefaultSiteIndexBuilder",
                    "renderer": _view("PaneIndexRenderer"),
                    "view": _view("OfflineIndexView"),
                },
                "site_section_builders": {
                    "expectations": {
                        "class_name": "DefaultSiteSectionBuilder",
                        "view": _view("OfflinePageView"),
                    },
                    "validations": {
                        "class_name": "DefaultSiteSectionBuilder",
                        "view": _view("OfflinePageView"),
                    },
                    "profiling": "none",
                },
            }
        },
    }


class ChecksProject:
    """Keeps the results of panes and builds the data docs. Raises OSError."""

    def __init__(self, root: Path, suites: Sequence[Any]):
        import great_expectations as gx

        self._root = root / "checks"
        self._gx = self._root / "gx"
        self._gx.mkdir(parents=True, exist_ok=True)
        (self._gx / "great_expectations.yml").write_text(
            HEADER + yaml.safe_dump(_configuration()), encoding="utf-8"
        )
        _remove(self._gx / "expectations")
        self._context: Any = gx.get_context(mode="file", context_root_dir=self._gx)
        for suite in suites:
            self._context.suites.add(suite)

    def keep(self, pane: int, result: Any) -> None:
        """Store a suite's result on a pane, in place of an earlier one."""
        from great_expectations.core.run_identifier import RunIdentifier
        from great_expectations.data_context.types.resource_identifiers import (
            ExpectationSuiteIdentifier,
            ValidationResultIdentifier,
        )

        name = _run_name(pane)
        _remove(self._gx / "validations" / result.suite_name / name)
        run = RunIdentifier(run_name=name, run_time=datetime.datetime.now(datetime.UTC))
        result.meta["run_id"] = run
        key = ValidationResultIdentifier(
            ExpectationSuiteIdentifier(result.suite_name), run, result.batch_id
        )
        self._context.validation_results_store.set(key, result)

    def build(self, failed: Collection[int]) -> Path:
        """Build the data docs of the latest panes, and of the latest of some that failed; the
        index's path.
        """
        site = self._root / "data_docs"
        store = self._context.validation_results_store
        keys = store.list_keys()
        panes = sorted({key.run_id.run_name for key in keys})
        shown = {
            *panes[-LATEST:],
            *sorted({_run_name(pane) for pane in failed} & {*panes})[-LATEST_FAILED:],
        }
        wanted = [key for key in keys if key.run_id.run_name in shown and self._is_whole(key)]
        _remove(site)
        suites = self._context.expectations_store.list_keys()
        self._context.build_data_docs(site_names=[SITE], resource_identifiers=[*suites, *wanted])
        # Great Expectations' own styles and fonts, 6 MB: these pages use none of them
        _remove(site / "static")
        return site / "index.html"

    def _is_whole(self, key: Any) -> bool:
        """Whether a stored result can be read; a damaged one is removed."""
        path = (self._gx / "validations").joinpath(*key.to_tuple()).with_suffix(".json")
        try:
            held = json.loads(path.read_bytes())
        except ValueError:
            held = None
        if isinstance(held, dict) and {"meta", "results", "suite_name"} <= held.keys():
            return True
        path.unlink()
        return False


def _run_name(pane: int) -> str:
    return f"pane-{pane:08d}"


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
