"""The functions for Ray Data, in Ray's own data sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from step_pages import code_of

import evenflow
from evenflow.ray_data import CountMentions, SumMentions, measurement

TEXTS = ["She met her brother.", "He left.", "It rained.", "An old monk left."] * 10
BAD = [None, b"She", "x" * (50 << 20)]
CONFIG = {"gate.confidence": 0.9}


@pytest.fixture(scope="module")
def ray() -> Iterator[object]:
    ray = pytest.importorskip("ray", reason="readers: run `.venv/bin/pip install 'ray[data]'`")
    ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
    yield ray
    ray.shutdown()


def test_sums_of_batches_are_what_measure_says() -> None:
    parts = [pa.table({"text": TEXTS[first : first + 7]}) for first in range(0, len(TEXTS), 7)]
    step = SumMentions(CONFIG)
    rows = [row for part in parts for row in step(part).to_pylist()]
    expected = evenflow.measure(TEXTS, config=CONFIG)
    assert measurement(rows[::-1], CONFIG).attributes == expected.attributes


def test_columns_have_the_counts_of_each_row() -> None:
    table = CountMentions({"attributes.gender.wordlist": None}, text="body")(
        pa.table({"body": ["She met her brother.", ""], "key": [1, 2]})
    )
    assert table.to_pylist() == [
        {
            "body": "She met her brother.",
            "key": 1,
            "mentions_gender_female": 2,
            "mentions_gender_male": 1,
        },
        {"body": "", "key": 2, "mentions_gender_female": 0, "mentions_gender_male": 0},
    ]


@pytest.mark.parametrize("text", BAD, ids=["null", "bytes", "50 MB"])
def test_what_is_no_text_is_an_error(text: object) -> None:
    with pytest.raises(evenflow.TextError, match="text 0"):
        CountMentions()(pa.table({"text": [text, None]}))


def test_a_data_set_of_ray_is_counted_and_measured(ray: object, tmp_path: Path) -> None:
    import ray.data

    path = tmp_path / "corpus" / "texts.jsonl"
    path.parent.mkdir()
    path.write_text("".join(f"{json.dumps({'text': text})}\n" for text in TEXTS))
    data = ray.data.read_json(str(path))
    counted = data.map_batches(CountMentions, concurrency=1, batch_format="pyarrow")
    rows = counted.take_all()
    expected = evenflow.measure(TEXTS)
    for group, count in expected.attributes["gender"]["counts"].items():
        assert sum(row[f"mentions_gender_{group}"] for row in rows) == count
    sums = data.map_batches(SumMentions, concurrency=1, batch_size=9, batch_format="pyarrow")
    assert measurement(sums.take_all()).attributes == expected.attributes
    page: dict[str, Any] = {}  # Ray's workers have a working directory of their own
    exec(code_of("Ray Data").replace('"corpus"', repr(str(path.parent))), page)
    assert page["counted"].count() == len(TEXTS)
    assert measurement(page["sums"].take_all()).attributes == expected.attributes
