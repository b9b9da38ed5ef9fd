"""The transforms give what the commands give, on the same documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow.parquet as pq
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import TimestampedValue
from places import DATA

import evenflow
from evenflow.beam import (
    AnnotateDocuments,
    CountMentions,
    FilterStereotypes,
    GroupPanes,
    JudgePanes,
    KeyByPane,
    MakePanes,
    RollingRepresentation,
    WriteShards,
)
from evenflow.beam.judging import judge_panes
from evenflow.gates.ledger.history import History
from evenflow.schemas.config import load

RUNNER = "FnApiRunner"
STREAMS = "BundleBasedDirectRunner"  # the one in process that takes a TestStream
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
    found = list(
        judge_panes([(number, {"sums": [{"gender": one}]}) for number in range(3)], config)
    )
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


NO_DICTS = [None, "She came.", b"She came.", 3, ["She came."]]


def of_any_type(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    "document", [{"id": "a"}, {"id": "a", "text": 3}, {"id": [], "text": "x"}, *NO_DICTS]
)
def test_a_document_that_is_none_is_an_error(document: Any) -> None:
    with pytest.raises(Exception, match=r"(text|number|dict) was expected"):  # noqa: SIM117
        with beam.Pipeline(RUNNER) as pipeline:
            _ = pipeline | beam.Create([document]) | beam.Map(of_any_type) | AnnotateDocuments()


def test_a_pane_with_something_else_than_a_document_is_an_error() -> None:
    panes = [(0, [{"id": "a", "text": "She came."}, "He came."])]
    with pytest.raises(Exception, match=r"a dict was expected, not the text 'He came\.'"):  # noqa: SIM117
        with beam.Pipeline(RUNNER) as pipeline:
            _ = pipeline | beam.Create(panes) | beam.Map(of_any_type) | MakePanes()


def test_what_cannot_be_annotated_is_an_output_of_its_own() -> None:
    texts = [None, b"She came.", "x" * (11 << 20), 3, ""]
    documents = [{"id": "a", "text": "She came."}, {"id": "b", "body": "She came."}]
    documents += [{"id": "c", "text": text} for text in texts]
    with beam.Pipeline(RUNNER) as pipeline:
        annotate = AnnotateDocuments(attributes=["gender"]).with_exception_handling()
        every = pipeline | beam.Create([*documents, *NO_DICTS]) | beam.Map(of_any_type)
        good, bad = every | annotate
        assert_that(good | beam.Map(lambda each: each["id"]), equal_to(["a"]))
        reasons = bad | beam.Map(
            lambda pair: (
                pair[0]["id"] if isinstance(pair[0], dict) else "none",
                pair[1][0].__name__,
            )
        )
        unusable = [(name, "UnusableError") for name in [*"bccccc", *["none"] * len(NO_DICTS)]]
        assert_that(reasons, equal_to(unusable), "reasons")


# The third is late and counts; the fourth comes later than the lateness allows
SAID = (("She came.", 5), ("He came.", 15)), (("He left.", 7),), (("He left.", 8),)
WATERMARKS = (30, 60)
COUNTS = {-10.0: (1, 1), 0.0: (1, 2), 10.0: (0, 1)}  # the last result of each window, by its start


def test_late_documents_correct_their_windows(tmp_path: Path) -> None:
    given = PipelineOptions([f"--runner={STREAMS}"])
    given.view_as(StandardOptions).streaming = True
    stream = TestStream()
    for number, texts in enumerate(SAID):
        documents = [
            TimestampedValue({"id": f"{number}-{at}", "text": text}, at) for text, at in texts
        ]
        stream = stream.add_elements(documents)
        if number < len(WATERMARKS):
            stream = stream.advance_watermark_to(WATERMARKS[number])
    with beam.Pipeline(options=given) as pipeline:
        _ = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | AnnotateDocuments(attributes=["gender"])
            | RollingRepresentation(20, 10, 25, attributes=["gender"])
            | beam.Map(note, str(tmp_path))
        )
    found = sorted(
        (json.loads(path.read_text()) for path in tmp_path.iterdir()),
        key=lambda each: each["firing"],
    )
    counts = {each["start"]: each["attributes"]["gender"]["counts"] for each in found}
    assert {start: tuple(each.values()) for start, each in counts.items()} == COUNTS
    assert {each["is_late"] for each in found} == {False, True}


def test_panes_that_are_windows_are_judged_in_order_and_written(tmp_path: Path) -> None:
    settings = {"pane.rolling": 3, "gate.min_mentions": 1, "gate.block": 0.3}
    texts = ["She met him. "] * 3 + ["He and his son came. "] * 3
    documents = [
        TimestampedValue({"id": f"{pane}-{at}", "text": text}, 10 * pane)
        for pane, text in reversed([*enumerate(texts)])
        for at in range(20)
    ]
    with beam.Pipeline(RUNNER) as pipeline:
        panes = (
            pipeline
            | beam.Create(documents)
            | beam.Map(lambda each: each)
            | beam.WindowInto(beam.window.FixedWindows(10))
            | KeyByPane()
            | GroupPanes(settings)
        )
        made = panes | MakePanes(settings, attributes=["gender"])
        verdicts = {"made": made.made} | JudgePanes(settings, attributes=["gender"])
        written = {"shards": made.shards, "verdicts": verdicts} | WriteShards(tmp_path)
        found = verdicts | beam.Map(
            lambda each: (
                each["pane"],
                each["folder"],
                each["attributes"]["gender"]["cumulative"]["mentions"],
            )
        )
        folders = ["accepted"] * 4 + ["quarantine"] * 2
        mentions = [40, 80, 120, 180, 240, 300]
        numbers = range(0, 60_000, 10_000)
        assert_that(found, equal_to([*zip(numbers, folders, mentions, strict=True)]))
        sizes = written | beam.Map(lambda each: (each["pane"], each["folder"], each["documents"]))
        assert_that(sizes, equal_to([*zip(numbers, folders, [20] * 6, strict=True)]), "written")
    assert [len([*(tmp_path / each).iterdir()]) for each in ("accepted", "quarantine")] == [4, 2]


def note(result: dict, folder: str) -> None:
    """Write a result to a file of its own."""
    name = f"{result['start']}-{result['firing']}.json"
    (Path(folder) / name).write_text(json.dumps(result))


@pytest.mark.parametrize("output_as", ["weight", "sample"])
def test_a_pane_is_weighed_and_checked_as_the_gate_does(
    output_as: str, speeches: list[dict[str, Any]], tmp_path: Path
) -> None:
    documents = sorted((each | {"source": "s"} for each in speeches[:50]), key=lambda d: d["id"])
    settings = {"repair.mode": ["weight"], "repair.output_as": output_as, "gate.block": 0.4}
    evenflow.Gate(settings).run(documents, tmp_path / "engine")
    (entry,) = History(tmp_path / "engine", load(None, settings))
    with beam.Pipeline(RUNNER) as pipeline:
        keyed = (
            pipeline
            | beam.Create(documents)
            | AnnotateDocuments(settings)
            | KeyByPane(lambda document: 0)
        )
        made = keyed | GroupPanes(settings) | MakePanes(settings)
        verdicts = {"made": made.made} | JudgePanes(settings)
        written = {"shards": made.shards, "verdicts": verdicts} | WriteShards(tmp_path / "beam")
        found = verdicts | beam.Map(
            lambda each: (
                each["folder"],
                {name: own["sums"]["counts"] for name, own in each["attributes"].items()},
            )
        )
        counts = {name: each.sums.counts for name, each in entry.attributes.items()}
        assert_that(found, equal_to([(entry.folder, counts)]))
        rows = written | beam.Map(lambda each: sum(shard["rows"] for shard in each["shards"]))
        assert_that(rows, equal_to([entry.documents]), "rows")

    def content(output: Path) -> list[tuple[str, ...]]:
        (path,) = (output / entry.folder).glob("*.parquet")
        names = ["id", "text", "source", *(["weight"] if output_as == "weight" else ["copy_of"])]
        return sorted(tuple(map(str, row.values())) for row in rows_of(path, names))

    def rows_of(path: Path, names: list[str]) -> list[dict[str, Any]]:
        return pq.read_table(path, columns=names).to_pylist()

    assert content(tmp_path / "beam") == content(tmp_path / "engine")


def test_measures_are_judged_as_the_gate_does(
    speeches: list[dict[str, Any]], tmp_path: Path
) -> None:
    settings = {
        **{"bias_score.mode": "measure", "coverage.tau": 40, "coverage.warn": 0.3},
        **{"pane.docs": PANE, "gate.warn": 1.0, "gate.block": 1.0, "reference.by": "source"},
    }
    documents = speeches[: 2 * PANE]
    evenflow.Gate(settings).run(documents, tmp_path)
    entries = list(History(tmp_path, load(None, settings)))
    expected = [
        (
            each.verdict.state,
            {name: own.model_dump() for name, own in each.measures.items() if own is not None},
        )
        for each in entries
    ]
    assert {name for _, each in expected for name in each} == {"coverage", "bias_score", "shift"}
    with beam.Pipeline(RUNNER) as pipeline:
        keyed = (
            pipeline
            | beam.Create(documents)
            | AnnotateDocuments(settings)
            | KeyByPane(lambda document: int(document["id"]) // PANE)
        )
        made = keyed | GroupPanes(settings) | MakePanes(settings)
        found = {"made": made.made} | JudgePanes(settings)
        assert_that(
            found | beam.Map(lambda each: (each["state"], each["measures"])), equal_to(expected)
        )


def test_stereotypes_are_filtered_as_the_gate_does(tmp_path: Path) -> None:
    strong = "Muslims are violent savages. All Jews are greedy and stingy."
    texts = [f"A Christian came home. {strong} The Buddhist read.", "A Hindu read a book.", strong]
    documents = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    settings = {"stereotypes.action": "remove"}
    evenflow.Gate(settings).run(documents, tmp_path)
    tables = {
        folder: pq.read_table(tmp_path / folder)
        for folder in ("accepted", "quarantine")
        if any((tmp_path / folder).glob("*.parquet"))
    }
    kept = {row["id"]: row["text"] for row in tables["accepted"].to_pylist()}
    with beam.Pipeline(RUNNER) as pipeline:
        good, aside = (
            pipeline
            | beam.Create(documents)
            | AnnotateDocuments(settings)
            | FilterStereotypes(settings)
        )
        assert_that(
            good | beam.Map(lambda each: (each["id"], each["text"])), equal_to([*kept.items()])
        )
        reasons = aside | beam.Map(lambda each: (each["id"], each["reason"]))
        gone = [(each["id"], each["reason"]) for each in asides(tmp_path)]
        assert_that(reasons, equal_to(gone), "aside")
    assert kept["0"] != texts[0] and gone


def asides(output: Path) -> list[dict[str, Any]]:
    """The documents that the gate set aside."""
    paths = [path for path in output.rglob("*.parquet") if "reason" in pq.read_schema(path).names]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_people_are_not_counted_by_transforms() -> None:
    with pytest.raises(evenflow.ConfigError, match="people"):
        CountMentions({"measure.count": "people"})


def test_windows_without_a_length_are_refused() -> None:
    with pytest.raises(ValueError, match="lengths above 0"):
        RollingRepresentation(0, 60)
