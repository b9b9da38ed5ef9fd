"""The Python API of Evenflow; this folder is the package `evenflow`.

The functions take paths, texts, records, Hugging Face datasets and pandas frames:

Example:
    >>> import evenflow
    >>> result = evenflow.measure(["She met her brother.", "He met his father."])
    >>> result["attributes"]["gender"]["counts"]
    {'female': 2, 'male': 4}
    >>> round(result["attributes"]["gender"]["dr"], 3)
    0.167

Everything is imported at its first use, so that `evenflow --help` does not load data libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenflow import beam as beam
    from evenflow.functions import explain as explain
    from evenflow.functions import measure as measure
    from evenflow.gating import Gate as Gate
    from evenflow.pipelines.accepted.rows import accepted as accepted

__all__ = ["Gate", "accepted", "beam", "explain", "measure"]

_MODULES = {
    "Gate": "evenflow.gating",
    "accepted": "evenflow.pipelines.accepted.rows",
    "explain": "evenflow.functions",
    "measure": "evenflow.functions",
}


def __getattr__(name: str) -> Any:
    """Import a public name of this package at its first use."""
    if name == "beam":
        try:
            return import_module("evenflow.beam")
        except ModuleNotFoundError as error:
            from evenflow.pipelines.terminal.missing import installing

            missing = (error.name or "").partition(".")[0]
            raise ModuleNotFoundError(f"{error}; {installing(missing)}", name=missing) from error
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*globals(), *__all__})
