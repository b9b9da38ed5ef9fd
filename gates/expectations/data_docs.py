"""The Great Expectations project in an output directory.

checks/gx/ holds each pane's results, and checks/data_docs/ the pages for people. All of it can be
made again; the ledger is the record. A killed process may leave files half written, so the
configuration and the suites are written at each start, and a pane's results whenever the pane is
checked.
"""

from __future__ import annotations

import datetime
import json
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import yaml

from evenflow.schemas.guards import is_mapping
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.storage.storage import Place, at

# Panes that the data docs show. A page takes some hundredths of a second, and nobody opens
# thousands of them.
LATEST = 50
LATEST_FAILED = 50  # further panes with failures that they show
SITE = "data_docs"
VALIDATIONS = "checks/gx/validations"
HEADER = "# Rewritten at each start of a run: changes are lost.\n"


def _backend(folder: str) -> dict[str, Any]:
    """A store of files in a folder."""
    return {
        "class_name": "TupleFilesystemStoreBackend",
        "base_directory": folder,
        "suppress_store_backend_id": True,
    }


def _store(kind: str, folder: str) -> dict[str, Any]:
    """A store of one kind of objects."""
    return {"class_name": kind, "store_backend": _backend(folder)}


def _view(name: str) -> dict[str, str]:
    """A class of docs_view."""
    return {"module_name": "evenflow.gates.expectations.docs_view", "class_name": name}


def _section() -> dict[str, Any]:
    """A section of the site."""
    return {"class_name": "DefaultSiteSectionBuilder", "view": _view("OfflinePageView")}


def _configuration() -> dict[str, Any]:
    """great_expectations.yml; folders are relative to its own."""
    return {
        "config_version": 4.0,
        "analytics_enabled": False,
        "progress_bars": {"globally": False, "metric_calculations": False},
        "stores": {
            "expectations_store": _store("ExpectationsStore", "expectations/"),
            "validation_results_store": _store("ValidationResultsStore", "validations/"),
            "checkpoint_store": _store("CheckpointStore", "checkpoints/"),
            "validation_definition_store": _store(
                "ValidationDefinitionStore", "validation_definitions/"
            ),
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
                    "expectations": _section(),
                    "validations": _section(),
                    "profiling": "none",
                },
            }
        },
    }


def kept(pane: int, result: Any) -> dict[str, Any]:
    """Describe a suite's result on a pane as JSON that `keep` can store.

    Args:
        pane: Number of the pane.
        result: The result, as Great Expectations returned it.

    Returns:
        The name of its file below checks/gx/validations, and its content.
    """
    from great_expectations.core.run_identifier import RunIdentifier
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    run = RunIdentifier(run_name=_run_name(pane), run_time=datetime.datetime.now(datetime.UTC))
    result.meta["run_id"] = run
    suite = ExpectationSuiteIdentifier(result.suite_name)
    key = ValidationResultIdentifier(suite, run, result.batch_id)
    return {"name": f"{'/'.join(key.to_tuple())}.json", "result": result.to_json_dict()}


def keep(root: Place, pane: int, results: Iterable[Mapping[str, Any]]) -> None:
    """Store the results of a pane's suites, in place of earlier ones.

    Args:
        root: The output.
        pane: Number of the pane.
        results: What `kept` returned of each suite.

    Raises:
        OSError: A file cannot be written.
    """
    storage = at(root)
    for each in results:
        suite = each["name"].partition("/")[0]
        if storage.local is not None:  # a replayed pane has a result of another time
            storage.remove_tree(f"{VALIDATIONS}/{suite}/{_run_name(pane)}")
        storage.write_soon(f"{VALIDATIONS}/{each['name']}", orjson.dumps(each["result"]))


class ChecksProject:
    """The project, for its data docs. Its methods raise OSError."""

    def __init__(self, root: Place, suites: Sequence[Any]):
        """Write the project's configuration and suites.

        Great Expectations works on local files. So a project in a store has a local copy.

        Args:
            root: The output.
            suites: The suites of Great Expectations.
        """
        import great_expectations as gx  # takes more than a second

        self._storage = at(root)
        if self._storage.local is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="evenflow-")
            self._local = Directory(Path(self._scratch.name))
        else:
            self._local = Directory(self._storage.local)
        self._root = self._local.path / "checks"
        self._gx = self._root / "gx"
        self._gx.mkdir(parents=True, exist_ok=True)
        (self._gx / "great_expectations.yml").write_text(
            HEADER + yaml.safe_dump(_configuration()), encoding="utf-8"
        )
        _remove(self._gx / "expectations")
        self._context: Any = gx.get_context(  # pyright: ignore[reportUnknownMemberType]
            mode="file", context_root_dir=self._gx
        )
        for suite in suites:
            self._context.suites.add(suite)

    def build(self, failed: Collection[int]) -> Path:
        """Build the data docs of the latest panes and of the latest failed ones.

        Args:
            failed: Numbers of the panes whose checks failed.

        Returns:
            Path of the index; of a store's project, of its local copy.
        """
        site = self._root / SITE
        names = [each.name for each in self._storage.tree(VALIDATIONS) if _is_result(each.name)]
        panes = sorted({_run_of(name) for name in names})
        shown = {
            *panes[-LATEST:],
            *sorted({_run_name(pane) for pane in failed} & {*panes})[-LATEST_FAILED:],
        }
        chosen = [name for name in names if _run_of(name) in shown]
        if self._storage != self._local:
            for name, data in zip(chosen, self._storage.read_all(chosen), strict=True):
                if data is not None:
                    self._local.write(name, data)
        keys = self._context.validation_results_store.list_keys()
        wanted = [key for key in keys if key.run_id.run_name in shown and self._is_whole(key)]
        _remove(site)
        suites = self._context.expectations_store.list_keys()
        self._context.build_data_docs(site_names=[SITE], resource_identifiers=[*suites, *wanted])
        # The styles and fonts of Great Expectations are 6 MB, and these pages use none of them
        _remove(site / "static")
        if self._storage != self._local:
            self._storage.remove_tree(f"checks/{SITE}")
            for path in (path for path in site.rglob("*") if path.is_file()):
                self._storage.upload(path, path.relative_to(self._local.path).as_posix())
        return site / "index.html"

    def _is_whole(self, key: Any) -> bool:
        """Whether a stored result can be read; a damaged one is removed."""
        path = (self._gx / "validations").joinpath(*key.to_tuple()).with_suffix(".json")
        try:
            held = json.loads(path.read_bytes())
        except ValueError:
            held = None
        if is_mapping(held) and {"meta", "results", "suite_name"} <= held.keys():
            return True
        path.unlink()
        return False


def _is_result(name: str) -> bool:
    """Whether a file is a suite's result on a pane: SUITE/RUN/TIME/BATCH.json."""
    parts = name.removeprefix(f"{VALIDATIONS}/").split("/")
    return len(parts) == 4 and name.endswith(".json")


def _run_of(name: str) -> str:
    """The name of a result's run, which names its pane."""
    return name.removeprefix(f"{VALIDATIONS}/").split("/")[1]


def _run_name(pane: int) -> str:
    """Name of a pane's results."""
    return f"pane-{pane:08d}"


def _remove(folder: Path) -> None:
    """Remove a folder, if it is there."""
    if folder.exists():
        shutil.rmtree(folder)
