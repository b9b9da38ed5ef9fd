"""The Great Expectations project in an output directory.

checks/gx/ holds each pane's results, and checks/data_docs/ the pages for people. All of it can be
made again; the ledger is the record. A killed process may leave files half written, so the
configuration and the suites are written at each start, and a pane's results whenever the pane is
checked.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson
import yaml

from evenflow.schemas.guards import is_mapping
from evenflow.transforms.storage.storage import Place, at

# Panes that the data docs show. A page takes some hundredths of a second, and nobody opens
# thousands of them.
LATEST = 50
LATEST_FAILED = 50  # further panes with failures that they show
SITE = "data_docs"
DOCS = f"checks/{SITE}"
PROJECT = "checks/gx"
VALIDATIONS = f"{PROJECT}/validations"
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
        """Write the project's configuration and suites, where the output is a folder.

        Great Expectations opens such a project by its folder: a store has none.

        Args:
            root: The output.
            suites: The suites of Great Expectations.
        """
        self._storage = at(root)
        self._suites = suites
        if self._storage.local is not None:
            configuration = HEADER + yaml.safe_dump(_configuration())
            self._storage.write(f"{PROJECT}/great_expectations.yml", configuration.encode())
            self._storage.remove_tree(f"{PROJECT}/expectations")
            for suite in suites:
                self._storage.write(f"{PROJECT}/expectations/{suite.name}.json", _dumped(suite))

    def build(self, failed: Collection[int]) -> str:
        """Build the data docs of the latest panes and of the latest failed ones.

        Args:
            failed: Numbers of the panes whose checks failed.

        Returns:
            Name of their index in the output.
        """
        from evenflow.gates.expectations.docs_view import Pages

        names = [each.name for each in self._storage.tree(VALIDATIONS) if _is_result(each.name)]
        panes = sorted({_run_of(name) for name in names})
        shown = {
            *panes[-LATEST:],
            *sorted({_run_name(pane) for pane in failed} & {*panes})[-LATEST_FAILED:],
        }
        chosen = [name for name in names if _run_of(name) in shown]
        self._storage.remove_tree(DOCS)
        pages = Pages()
        for suite in self._suites:
            self._page(f"expectations/{suite.name}.html", pages.suite(suite))
        for name, data in zip(chosen, self._storage.read_all(chosen), strict=True):
            held = _whole(data)
            if held is None:
                self._storage.remove([name])
            else:
                path = name.removeprefix("checks/gx/").removesuffix(".json") + ".html"
                self._page(path, pages.result(path, held))
        self._page("index.html", pages.index())
        return f"{DOCS}/index.html"

    def _page(self, path: str, page: str | None) -> None:
        """Write a page, if there is one."""
        if page is not None:
            self._storage.write(f"{DOCS}/{path}", page.encode())


def _dumped(suite: Any) -> bytes:
    """A suite as Great Expectations stores it; its ids are the same in every run."""
    from great_expectations.core.expectation_suite import expectationSuiteSchema

    schema: Any = expectationSuiteSchema  # its types are those of any document
    document = schema.dump(suite)
    for number, each in enumerate(document["expectations"]):
        each["id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{suite.name} {number}"))
    document["id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, suite.name))
    return json.dumps(document, indent=2, sort_keys=True).encode()


def _whole(data: bytes | None) -> dict[str, Any] | None:
    """A stored result; None if it is damaged."""
    try:
        held = json.loads(data or b"")
    except ValueError:
        return None
    return held if is_mapping(held) and {"meta", "results", "suite_name"} <= held.keys() else None


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
