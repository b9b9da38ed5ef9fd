"""The examples in the documentation of the Python API."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "module",
    [
        *("evenflow", "evenflow.annotator", "evenflow.functions", "evenflow.gating"),
        *("evenflow.beam", "evenflow.beam.annotating", "evenflow.beam.counting"),
        *("evenflow.beam.judging", "evenflow.beam.grouping"),
    ],
)
def test_the_examples_are_true(module: str) -> None:
    ended = doctest.testmod(importlib.import_module(module))
    assert ended.attempted > 0
    assert ended.failed == 0
