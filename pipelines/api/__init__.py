"""The Python API of Evenflow; this folder is the package `evenflow`.

The functions take paths, texts, records, Hugging Face datasets and frames:

Example:
    >>> import evenflow
    >>> result = evenflow.measure(["She met her brother.", "He met his father."])
    >>> result.attributes["gender"]["counts"]
    {'female': 2, 'male': 4}
    >>> round(result.attributes["gender"]["dr"], 3)
    0.167

Everything is imported at its first use, so that `evenflow --help` does not load data libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenflow import beam as beam
    from evenflow.annotator import Annotation as Annotation
    from evenflow.annotator import Annotator as Annotator
    from evenflow.annotator import Summary as Summary
    from evenflow.annotator import TextError as TextError
    from evenflow.annotator import counterfactual as counterfactual
    from evenflow.functions import explain as explain
    from evenflow.functions import measure as measure
    from evenflow.gates.expectations.user_suite import SuiteError as SuiteError
    from evenflow.gates.lease import FencedError as FencedError
    from evenflow.gates.ledger.files import LedgerError as LedgerError
    from evenflow.gates.lock import LockedError as LockedError
    from evenflow.gating import Gate as Gate
    from evenflow.pipelines.accepted.rows import accepted as accepted
    from evenflow.pipelines.engine.files.cutting import ChangedError as ChangedError
    from evenflow.pipelines.engine.panes.epochs import RunError as RunError
    from evenflow.pipelines.engine.runners import WorkerError as WorkerError
    from evenflow.results import Explanation as Explanation
    from evenflow.results import Measurement as Measurement
    from evenflow.results import Outcome as Outcome
    from evenflow.schemas.config import ConfigError as ConfigError
    from evenflow.schemas.errors import EvenflowError as EvenflowError
    from evenflow.transforms.io.files import InputError as InputError
    from evenflow.transforms.models.files import ModelError as ModelError
    from evenflow.wordlists.loader import WordListError as WordListError

    __version__: str

_MODULES = {
    "Annotation": "evenflow.annotator",
    "Annotator": "evenflow.annotator",
    "ChangedError": "evenflow.pipelines.engine.files.cutting",
    "ConfigError": "evenflow.schemas.config",
    "Explanation": "evenflow.results",
    "EvenflowError": "evenflow.schemas.errors",
    "FencedError": "evenflow.gates.lease",
    "Gate": "evenflow.gating",
    "InputError": "evenflow.transforms.io.files",
    "LedgerError": "evenflow.gates.ledger.files",
    "LockedError": "evenflow.gates.lock",
    "Measurement": "evenflow.results",
    "ModelError": "evenflow.transforms.models.files",
    "Outcome": "evenflow.results",
    "RunError": "evenflow.pipelines.engine.panes.epochs",
    "SuiteError": "evenflow.gates.expectations.user_suite",
    "Summary": "evenflow.annotator",
    "TextError": "evenflow.annotator",
    "WordListError": "evenflow.wordlists.loader",
    "WorkerError": "evenflow.pipelines.engine.runners",
    "accepted": "evenflow.pipelines.accepted.rows",
    "counterfactual": "evenflow.annotator",
    "explain": "evenflow.functions",
    "measure": "evenflow.functions",
}
# pyright sees the names above; at run time they are those of the table
__all__ = [*_MODULES, "__version__", "beam"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Import a public name of this package at its first use."""
    if name == "beam":
        try:
            return import_module("evenflow.beam")
        except ModuleNotFoundError as error:
            from evenflow.pipelines.terminal.missing import installing

            missing = (error.name or "").partition(".")[0]
            raise ModuleNotFoundError(f"{error}; {installing(missing)}", name=missing) from error
    if name == "__version__":
        from importlib.metadata import version  # it loads a parser of mails

        return version("evenflow")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*globals(), *__all__})
