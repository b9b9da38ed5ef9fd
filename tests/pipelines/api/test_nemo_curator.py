"""The filter for NeMo Curator, in its own stages."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from step_pages import code_of

import evenflow

pytest.importorskip(
    "nemo_curator", reason="readers: run `.venv/bin/pip install -e '.[nemo-curator]'`"
)

from nemo_curator.stages.text.filters.score_filter import Score, ScoreFilter
from nemo_curator.tasks import DocumentBatch

from evenflow.nemo_curator import NO_SCORE, MentionsOf, UnevenDocuments

TEXTS = ["She met him. " * 20, "He met his father. " * 20, "It rained.", "He left."]


def batch(texts: Sequence[object]) -> DocumentBatch:
    return DocumentBatch(dataset_name="t", data=pd.DataFrame({"text": texts}))


def test_a_group_is_counted_for_each_document() -> None:
    done = Score(MentionsOf("gender", "male"), score_field="male").process(batch(TEXTS))
    assert done is not None
    assert list(done.to_pandas()["male"]) == [20, 60, 0, 1]
    counts = evenflow.measure(TEXTS).attributes["gender"]["counts"]
    assert done.to_pandas()["male"].sum() == counts["male"]


def test_uneven_documents_are_dropped_with_their_score() -> None:
    stage = ScoreFilter(UnevenDocuments("gender", most_dr=0.3), score_field="dr")
    stage.setup()
    done = stage.process(batch(TEXTS))
    assert done is not None
    kept = done.to_pandas()
    assert list(kept["text"]) == [TEXTS[0], *TEXTS[2:]]
    assert list(kept["dr"]) == [0.0, NO_SCORE, NO_SCORE]
    inverted = ScoreFilter(UnevenDocuments("gender", 0.3), invert=True, score_field="dr")
    rest = inverted.process(batch(TEXTS))
    assert rest is not None
    assert list(rest.to_pandas()["dr"]) == [0.5]


def test_the_stages_of_the_page_run() -> None:
    names: dict[str, Any] = {}
    exec(code_of("NeMo Curator"), names)
    done = batch(TEXTS)
    for stage in names["stages"]:
        stage.setup()
        done = stage.process(done)
    kept = done.to_pandas()
    assert list(kept["text"]) == [TEXTS[0], *TEXTS[2:]]
    assert list(kept["male"]) == [20, 0, 1]


def test_filters_travel_to_workers() -> None:
    filtering = pickle.loads(pickle.dumps(UnevenDocuments(config={"gate.warn": 0.1})))
    assert filtering.score_document(TEXTS[1]) == 0.5
    assert filtering.name == "uneven_gender"


@pytest.mark.parametrize(
    "text", [None, b"She", 3, "x" * (50 << 20)], ids=["null", "bytes", "number", "50 MB"]
)
def test_what_is_no_text_ends_the_stage(text: object) -> None:
    with pytest.raises(evenflow.TextError):
        ScoreFilter(UnevenDocuments()).process(batch(["She came.", text]))


def test_an_attribute_that_is_not_measured_is_refused() -> None:
    with pytest.raises(evenflow.ConfigError, match="'sex' is not measured"):
        UnevenDocuments("sex")
    with pytest.raises(evenflow.ConfigError, match="no group 'women'"):
        MentionsOf("gender", "women")


def test_a_field_that_is_not_there_is_named() -> None:
    stage = Score(MentionsOf("gender", "male"), score_field="male", text_field="body")
    with pytest.raises(KeyError, match="body"):
        stage.process(batch(TEXTS))
