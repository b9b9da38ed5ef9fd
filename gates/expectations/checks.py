"""Great Expectations over a pane's shards: the suite that every pane must meet, and a user's own.

In the own suite a check that does not hold is critical and sets the pane aside, but for DR: the
verdict on DR is the gate's, from the rolling score, so that a pane whose own DR is above its limit
is recorded, as a warning, and shown in the data docs. In a user's suite each entry has its
severity, and the columns are those of the shards, the input's other fields among them.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenflow.gates.expectations import frame as shard_frame
from evenflow.gates.expectations import sentences as sentence_checks
from evenflow.gates.expectations.importing import deferred, uncollected
from evenflow.gates.expectations.user_suite import SuiteError as SuiteError
from evenflow.gates.expectations.user_suite import UserSuite, load
from evenflow.schemas.documents import mentions
from evenflow.schemas.ledger import AttributeEntry, CheckFailure, Checks
from evenflow.wordlists.loader import WordList

OWN, USERS = "evenflow", "user"  # names of the suites
SHOWN_VALUES = 5  # unexpected values that a result keeps
SHOWN_CHARACTERS = 200  # of such a value: it may be a text
# How often each unexpected value occurs is left out: it costs a pass over all of them.
RESULT_FORMAT = {"result_format": "BASIC", "partial_unexpected_count": SHOWN_VALUES}
# What Great Expectations draws charts and computes p-values with is half of its import, and a
# pane's checks use neither.
SELDOM = ("altair", "scipy.stats")
# An object's, in a message: it would differ from run to run
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


@dataclass(frozen=True)
class Limit:
    """Up to where an attribute's DR may go in a pane: max_value, by its interval's lower bound.

    target: share of each group, (M,). min_mentions: below, nothing is judged. confidence: of the
    interval. weight: column of the documents' weights, where they have any.
    """

    max_value: float
    target: Sequence[float] | None = None
    min_mentions: int = 0
    confidence: float = 0.95
    weight: str | None = None


class PaneChecks:
    """Runs the suites on panes, one after the other; results and data docs go to root/checks.

    lists: word lists of the attributes, as annotated. limits: by attribute. identity, text: columns
    of the shards. strong: from which score_scsc and probability a stereotype is taken out, by
    attribute. sentences: whether panes have a table of sentences. Raises SuiteError, OSError.
    """

    def __init__(
        self,
        root: Path,
        user_suite: Path | None = None,
        *,
        lists: Sequence[WordList] = (),
        limits: Mapping[str, Limit] | None = None,
        identity: str = "id",
        text: str = "text",
        strong: Mapping[str, tuple[float, float]] | None = None,
        sentences: bool = False,
    ):
        weights = [each.weight for each in (limits or {}).values() if each.weight]
        self._columns = shard_frame.names(lists, identity, text, weights)
        self._strong = dict(strong or {})
        self._reader = shard_frame.ShardReader(lists, self._columns)
        with _quietly(), uncollected():
            # Imported here: it takes more than a second, and a run on a finished output needs none
            # of it.
            with deferred(*SELDOM):
                import great_expectations as gx
            from great_expectations.data_context.types.base import (
                DataContextConfig,
                InMemoryStoreBackendDefaults,
            )

            from evenflow.gates.expectations.data_docs import ChecksProject

            own = _own_suite(self._columns, limits or {})
            self._user = (
                load(user_suite, self._columns.mentions)
                if user_suite
                else UserSuite([], {}, frozenset())
            )
            self._suites = {OWN: gx.ExpectationSuite(name=OWN, expectations=own)}
            if sentences:
                of_sentences = sentence_checks.expectations(gx.expectations)
                self._suites[sentence_checks.NAME] = gx.ExpectationSuite(
                    name=sentence_checks.NAME, expectations=of_sentences
                )
            if self._user.expectations:
                self._suites[USERS] = gx.ExpectationSuite(
                    name=USERS, expectations=self._user.expectations
                )
            self._project = ChecksProject(root, list(self._suites.values()))
            # Frames are given to it one by one and it keeps nothing: in memory it is an order of
            # magnitude faster.
            config = DataContextConfig(
                store_backend_defaults=InMemoryStoreBackendDefaults(), analytics_enabled=False
            )
            context: Any = gx.get_context(mode="ephemeral", project_config=config)
            context.variables.progress_bars = {"globally": False, "metric_calculations": False}
            asset = context.data_sources.add_pandas("pane").add_dataframe_asset("shards")
            self._batches: Any = asset.add_batch_definition_whole_dataframe("pane")

    def run(
        self,
        pane: int,
        shards: Sequence[Path],
        attributes: Mapping[str, AttributeEntry],
        documents: int,
        sentences: tuple[Path, int] | None = None,
    ) -> Checks:
        """Check a pane's shards, given in their order, against the figures of its attributes and
        how many documents it has.

        sentences: its table of sentences and how many rows that has. Raises OSError.
        """
        sums = {
            mentions(name, group): count
            for name, each in attributes.items()
            for group, count in zip(
                each.groups, each.repair.mentions if each.repair else each.sums.counts, strict=True
            )
        }
        frame = self._reader.read(shards)
        results = [self._validate(OWN, frame, {"sums": sums, "documents": documents})]
        if USERS in self._suites and len(frame):  # of no documents nothing can be expected
            whole = shard_frame.read_whole(shards, self._user.columns)
            results.append(self._validate(USERS, whole, self._user.parameters))
        if sentences is not None:
            table = sentence_checks.read(sentences[0], self._strong)
            results.append(self._validate(sentence_checks.NAME, table, {"rows": sentences[1]}))
        for result in results:
            self._project.keep(pane, result)
        failures = [
            self._failure(each) for result in results for each in result.results if not each.success
        ]
        failures.sort(
            key=lambda each: (each.severity, each.expectation, each.subject, each.observed)
        )
        return Checks(
            success=all(each.severity != "critical" for each in failures),
            evaluated=sum(len(result.results) for result in results),
            failures=failures,
        )

    def docs(self, failed: Collection[int] = ()) -> Path:
        """Build the data docs; the path of their index. failed: panes whose checks did not hold."""
        with _quietly():
            return self._project.build(failed)

    def _validate(self, suite: str, frame: pd.DataFrame, parameters: dict[str, Any]) -> Any:
        with _quietly():
            batch = self._batches.get_batch(batch_parameters={"dataframe": frame})
            result = batch.validate(
                self._suites[suite],
                result_format=dict(RESULT_FORMAT),
                expectation_parameters=parameters,
            )
        for each in result.results:
            each.success = bool(each.success)  # some give numpy's, which is no JSON
            each.result = _plain(each.result)
            each.exception_info = _without_traceback(each.exception_info)
        return result

    def _failure(self, result: Any) -> CheckFailure:
        config = result.expectation_config
        subject = _subject(config.kwargs)
        if subject in (self._columns.bytes, self._columns.recount):
            subject = self._columns.text
        return CheckFailure(
            expectation=config.type,
            subject=subject,
            observed=_observed(config.type, result),
            severity=getattr(config.severity, "value", config.severity),
        )


def _own_suite(columns: shard_frame.Names, limits: Mapping[str, Limit]) -> list[Any]:
    import great_expectations as gx

    from evenflow.gates.expectations.demographic import ExpectDemographicRepresentationToBeWithin
    from evenflow.gates.expectations.shards import (
        ExpectColumnsToHoldTextsAndCounts,
        ExpectColumnSumsToEqual,
    )

    expect: Any = gx.expectations  # its stubs export none of them
    again = (
        f"Counting the labels of {shard_frame.SAMPLE_DOCUMENTS} documents once more, one by one,"
        " gives the same mentions."
    )
    return [
        ExpectColumnsToHoldTextsAndCounts(
            texts=[columns.identity, columns.text], counts=columns.counts
        ),
        expect.ExpectTableRowCountToEqual(value={"$PARAMETER": "documents"}),
        ExpectColumnSumsToEqual(sums={"$PARAMETER": "sums"}),
        expect.ExpectColumnValuesToNotBeNull(
            column=columns.identity, description="Every document has an id."
        ),
        expect.ExpectColumnValuesToBeUnique(
            column=columns.identity, description="No two documents have the same id."
        ),
        expect.ExpectColumnValuesToBeBetween(
            column=columns.bytes, min_value=1, description="No document is empty."
        ),
        expect.ExpectColumnValuesToBeNull(column=columns.recount, description=again),
        *(
            ExpectDemographicRepresentationToBeWithin(
                attribute=name,
                columns=columns.mentions[name],
                max_value=limit.max_value,
                target=None if limit.target is None else list(limit.target),
                confidence=limit.confidence,
                min_mentions=limit.min_mentions,
                weight=limit.weight,
                severity="warning",  # pyright: ignore[reportArgumentType] (pydantic takes the value for the enum)
            )
            for name, limit in limits.items()
        ),
    ]


@contextmanager
def _quietly() -> Iterator[None]:
    """Great Expectations sends, shows and warns of nothing: the gate says itself what was found."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    with warnings.catch_warnings(action="ignore"):
        yield


def _subject(kwargs: Mapping[str, Any]) -> str:
    """What an expectation is about: its attribute or columns, or the pane."""
    for key in ("attribute", "column", "columns", "column_list"):
        if kwargs.get(key):
            value = kwargs[key]
            return value if isinstance(value, str) else ", ".join(map(str, value))
    pair = [str(kwargs[key]) for key in ("column_A", "column_B") if key in kwargs]
    return ", ".join(pair) or "pane"


def _observed(kind: str, result: Any) -> str:
    """What was seen, in words that are the same in every run."""
    from great_expectations.expectations.registry import get_expectation_impl

    from evenflow.gates.expectations.stated import StatedExpectation

    if message := _message(result.exception_info):
        return f"could not be checked: {message}"
    implementation: Any = get_expectation_impl(kind)
    seen = result.to_json_dict()["result"]
    if issubclass(implementation, StatedExpectation):
        return implementation.words(seen)
    if seen.get("unexpected_count"):
        of = f" of {seen['element_count']}" if "element_count" in seen else ""
        values = ", ".join(_shown(value) for value in seen.get("partial_unexpected_list") or [])
        return f"{seen['unexpected_count']}{of}" + (f": {values}" if values else "")
    return _shown(seen.get("observed_value"))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _plain(value: Any) -> Any:
    """A result as JSON has it, with texts cut; lists and mappings too."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float) else _shown(value)


def _infos(info: Any) -> list[dict[str, Any]]:
    """The exceptions of a result: one, or by the metric that raised it."""
    if not isinstance(info, dict):
        return []
    found = (
        [info]
        if "raised_exception" in info
        else [each for each in info.values() if isinstance(each, dict)]
    )
    return [each for each in found if each["raised_exception"]]


def _message(info: Any) -> str:
    messages = sorted({" ".join(str(each["exception_message"]).split()) for each in _infos(info)})
    return _shown(ADDRESS.sub("0x…", "; ".join(messages)))


def _without_traceback(info: Any) -> dict[str, Any]:
    """Of exceptions the message alone: a traceback names this machine's paths, and says nothing to
    who reads the docs.
    """
    message = _message(info)
    return {
        "raised_exception": bool(message),
        "exception_message": message,
        "exception_traceback": "",
    }
