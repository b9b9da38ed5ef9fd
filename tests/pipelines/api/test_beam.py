"""The transforms give what the commands give, on the same documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.testing.util import assert_that, equal_to
from places import DATA

import evenflow
from evenflow.beam import AnnotateDocuments, CountMentions, JudgePanes, judge_panes
from evenflow.gates.ledger.history import History
from evenflow.schemas.config import load

RUNNER = "BundleBasedDirectRunner"
PANE = 25


@pytest.fixture(scope="module")
def speeches() -> list[dict[str, Any]]:
    lines = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines()
    return [{"id": str(n), "text": json.loads(line)["text"]} for n, line in enumerate(lines[:100])]


def test_sums_are_those_of_measure(speeches: list[dict[str, Any]]) -> None:
    measured = evenflow.measure(speeches)["attributes"]
    expected = {name: (each["dr"], each["low"], each["counts"]) for name, each in measured.items()}
    with beam.Pipeline(RUNNER) as pipeline:
        sums = (
            pipeline
            | beam.Create(speeches)
            | AnnotateDocuments()
            | beam.CombineGlobally(CountMentions())
            | beam.Map(
                lambda found: {
                    name: (each["dr"], each["low"], each["counts"]) for name, each in found.items()
                }
            )
        )
        assert_that(sums, equal_to([expected]))


def test_verdicts_are_those_of_the_gate(speeches: list[dict[str, Any]], tmp_path: Path) -> None:
    settings = {"pane.docs": PANE, "pane.rolling": 2, "gate.warn": 0.1, "gate.block": 0.24}
    evenflow.Gate(settings).run(speeches, tmp_path / "out")
    entries = History(tmp_path / "out", load(None, settings))
    expected = [
        (each.pane, each.folder, {name: one.rolling.dr for name, one in each.attributes.items()})
        for each in entries
    ]
    assert len({folder for _, folder, _ in expected}) == 2
    with beam.Pipeline(RUNNER) as pipeline:
        verdicts = (
            pipeline
            | beam.Create(speeches)
            | AnnotateDocuments(settings)
            | beam.WithKeys(lambda document: int(document["id"]) // PANE)
            | beam.CombinePerKey(CountMentions(settings))
            | JudgePanes(settings)
            | beam.Map(
                lambda found: (
                    found["pane"],
                    found["folder"],
                    {name: each["rolling"]["dr"] for name, each in found["attributes"].items()},
                )
            )
        )
        assert_that(verdicts, equal_to(expected))


def test_panes_are_judged_in_order() -> None:
    one = {"documents": 200, "counts": {"female": 100, "male": 100}, "products": [[1, 0], [0, 1]]}
    with beam.Pipeline(RUNNER) as pipeline:
        numbers = (
            pipeline
            | beam.Create([(number, {"gender": one}) for number in (2, 0, 1)])
            | JudgePanes(attributes=["gender"])
            | beam.combiners.ToList()
            | beam.Map(lambda found: [each["pane"] for each in found])
        )
        assert_that(numbers, equal_to([[0, 1, 2]]))
    config = load(None, {"pane.rolling": 3}, ["gender"])
    found = list(judge_panes([(number, {"gender": one}) for number in range(3)], config))
    mentions = [each["attributes"]["gender"]["cumulative"]["mentions"] for each in found]
    assert mentions == [200, 400, 600]


def test_mentions_are_offsets_into_the_text_and_other_fields_stay() -> None:
    with beam.Pipeline(RUNNER) as pipeline:
        annotated = (
            pipeline
            | beam.Create([{"key": 7, "body": "It rained. She came."}])
            | AnnotateDocuments({"fields.text": "body"}, attributes=["gender"])
        )
        mention = {"start": 11, "end": 14, "label": "she", "attribute": "gender", "group": "female"}
        sentences = [
            {"start": 0, "end": 10, "text": "It rained."},
            {"start": 11, "end": 20, "text": "She came."},
        ]
        expected = {
            "key": 7,
            "body": "It rained. She came.",
            "mentions": [mention],
            "sentences": sentences,
            "counts": {"gender": {"female": 1, "male": 0}},
        }
        assert_that(annotated, equal_to([expected]))


@pytest.mark.parametrize("document", [{"id": "a"}, {"id": "a", "text": 3}, {"id": [], "text": "x"}])
def test_a_document_that_is_none_is_an_error(document: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"text was expected|number was expected"):  # noqa: SIM117
        with beam.Pipeline(RUNNER) as pipeline:
            _ = pipeline | beam.Create([document]) | AnnotateDocuments()
