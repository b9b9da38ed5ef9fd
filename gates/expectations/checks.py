"""Runs the suites of Great Expectations on a pane's shards.

There are three suites: the own suite, the suite of the sentence table, and a user's suite. In the
user's suite each entry has its own severity, and its columns are those of the shards, which include
the input's other fields.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from evenflow.gates.expectations import frame, own_suite, results
from evenflow.gates.expectations.frame import read_whole
from evenflow.gates.expectations.importing import deferred, uncollected
from evenflow.gates.expectations.lazy_packages import METRICS, light
from evenflow.gates.expectations.own_suite import DrLimit
from evenflow.gates.expectations.validate import Suite
from evenflow.schemas.ledger import CheckFailure, Checks
from evenflow.wordlists.loader import WordList

OWN, USERS = "evenflow", "user"  # names of the suites
SHOWN_VALUES = 5  # unexpected values that a result keeps
# BASIC leaves out how often each unexpected value occurs, which costs a pass over all of them
RESULT_FORMAT = {"result_format": "BASIC", "partial_unexpected_count": SHOWN_VALUES}
# Great Expectations uses it for p-values, which no check of a pane needs; it takes half a second
SELDOM = ("scipy.stats",)


class PaneChecks:
    """Runs the suites on panes, one after the other. Any process that has a pane's shards can."""

    def __init__(
        self,
        user_suite: Path | None = None,
        *,
        lists: Sequence[WordList] = (),
        limits: Mapping[str, DrLimit] | None = None,
        identity: str = "id",
        text: str = "text",
        strong: Mapping[str, tuple[float, float]] | None = None,
        sentences: bool = False,
    ):
        """Build the suites."""
        weights = list({each.weight: 0 for each in (limits or {}).values() if each.weight})
        self._columns = frame.names(lists, identity, text, weights)
        self._strong = dict(strong or {})
        self._reader = frame.ShardReader(lists, self._columns)
        with _quietly(), uncollected():
            light()
            from great_expectations.expectations import core

            with deferred(*SELDOM):
                importlib.import_module(METRICS)
            own = own_suite.expectations(self._columns, limits or {})
            suites = {OWN: own}
            if sentences:
                from evenflow.gates.expectations import sentence_suite

                suites[sentence_suite.NAME] = sentence_suite.expectations(core)
            if user_suite:
                from evenflow.gates.expectations import user_suite as users

                self._user = users.load(user_suite, self._columns.mentions)
                if self._user.expectations:
                    suites[USERS] = self._user.expectations
            self._suites = {
                name: Suite(name, each, keep=name != USERS) for name, each in suites.items()
            }

    def check(
        self,
        pane: int,
        shards: Sequence[Path],
        sums: Mapping[str, int],
        documents: int,
        sentences: tuple[Path, int] | None = None,
    ) -> tuple[Checks, list[dict[str, Any]]]:
        """Check a pane's shards against the pane's figures.

        Args:
            sums: Its mentions, by the column that has them.
            sentences: Its sentence table and the table's number of rows; None without one.

        Returns:
            The result of all suites, and what results.keep stores of it.

        Raises:
            OSError: A file cannot be read.
        """
        own = self._reader.read(shards)
        found = [self._validate(OWN, own, {"sums": sums, "documents": documents})]
        if USERS in self._suites and len(own):  # a user expects nothing of no documents
            whole = read_whole(shards, self._user.columns)
            found.append(self._validate(USERS, whole, self._user.parameters))
        if sentences is not None:
            from evenflow.gates.expectations import sentence_suite

            table = sentence_suite.read(sentences[0], self._strong)
            found.append(self._validate(sentence_suite.NAME, table, {"rows": sentences[1]}))
        failures = [
            self._failure(each) for suite in found for each in suite.results if not each.success
        ]
        failures.sort(
            key=lambda each: (each.severity, each.expectation, each.subject, each.observed)
        )
        checks = Checks(
            success=all(each.severity != "critical" for each in failures),
            evaluated=sum(len(suite.results) for suite in found),
            failures=failures,
        )
        return checks, [results.kept(pane, each) for each in found]

    def _validate(self, suite: str, batch: pd.DataFrame, parameters: dict[str, Any]) -> Any:
        """The result of a suite on a frame."""
        with _quietly():
            result = self._suites[suite].validate(batch, parameters, dict(RESULT_FORMAT))
        results.simplify(result)
        return result

    def _failure(self, result: Any) -> CheckFailure:
        """A failed check, with the text's column instead of those that the frame has for it."""
        found = results.failure(result)
        if found.subject in (self._columns.bytes, self._columns.recount):
            found.subject = self._columns.text
        return found


@contextmanager
def _quietly() -> Generator[None, None, None]:
    """Keep Great Expectations from printing and warning; the gate reports what it found."""
    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    with warnings.catch_warnings(action="ignore"):
        yield
