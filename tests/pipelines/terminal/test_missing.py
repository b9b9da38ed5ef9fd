"""A package that is missing is named with the command that installs it."""

from __future__ import annotations

import sys

import pytest
from places import ROOT

import evenflow
from evenflow.pipelines.terminal.missing import installing

EXTRAS = {"apache_beam": "beam", "kafka": "kafka", "httpx": "llm", "torch": "lab"}
EXTRAS |= {"onnxruntime": "models", "obstore": "stores"}


@pytest.mark.parametrize(("module", "extra"), EXTRAS.items())
def test_the_command_names_the_checkout_and_the_extra(module: str, extra: str) -> None:
    assert installing(module) == f"install it: pip install '{ROOT}[{extra}]'"


def test_what_no_extra_has_is_of_the_package_itself() -> None:
    assert installing("scipy") == "install it, or reinstall evenflow"


def test_transforms_for_beam_without_beam_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    for name in [name for name in sys.modules if name.startswith("evenflow.beam")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(evenflow), "beam", raising=False)  # another test may have read it
    with pytest.raises(ModuleNotFoundError, match=r"apache_beam.*pip install '.*\[beam\]'"):
        _ = evenflow.beam
