"""Strata of files and fields, and sums as lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.measures.representation.dr import sums
from evenflow.transforms.measures.shift.strata import (
    MOST,
    OTHER,
    added,
    by_stratum,
    groups_of,
    has_led,
    long,
    of_file,
    of_text,
    pack,
    packed,
    plus,
    pooled,
    short,
    text_of,
)


@pytest.mark.parametrize(
    "file, stratum",
    [
        ("corpus/reddit.jsonl.gz", "reddit"),
        ("corpus/reddit_2021.jsonl", "reddit"),
        ("c4/part-00001-of-00100.parquet", "c4"),
        ("c4/c4-train.00003-of-01024.json.gz", "c4-train"),
        ("news/0001.txt", "news"),
        ("news/a-story.txt", "news"),
        ("000.jsonl", "none"),
        ("s3://bucket/books/shard_7.jsonl.zst", "books"),
        ("kafka:docs/3", "docs/3"),
        ("in/a\x1b[31mb.jsonl", "a [31mb"),
        ("in/" + "x" * 200 + ".jsonl", "x" * 64),
    ],
)
def test_a_file_belongs_to_a_stratum_by_its_name(file: str, stratum: str) -> None:
    assert of_file(file) == stratum


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), max_size=20))
def test_packed_sums_are_those_of_the_documents(counts: list[list[int]]) -> None:
    rows = np.array(counts, np.int64).reshape(-1, 3)
    own = pack(rows)
    assert groups_of(own) == groups_of(own[:10]) == 3
    whole = sums(rows)
    assert own[:4] == [whole.documents, *whole.counts]
    assert own[4:10] == [whole.products[i][j] for i in range(3) for j in range(i, 3)]
    leads = [sum(2 * row[group] > sum(row) for row in counts) for group in range(3)]
    assert own[10:] == leads
    assert has_led(own) and not has_led(own[:10])


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=30))
def test_sums_by_stratum_are_those_of_its_documents(counts: list[list[int]]) -> None:
    rows = np.array(counts, np.int64)
    names = [f"s{sum(row) % 3}" for row in counts]
    found = by_stratum(names, {"gender": rows})
    for name, own in packed(found).items():
        chosen = np.array(names) == name
        assert own[0] == chosen.sum()
        assert own[1].get("gender", [0] * 8) == pack(rows[chosen])


@given(st.lists(st.sampled_from([0, 0, 1, 70]), max_size=12))
def test_a_list_that_was_made_short_is_found_again(numbers: list[int]) -> None:
    assert long(short(numbers), 12) == numbers
    assert len(short(numbers)) <= len(numbers)
    assert of_text(text_of([7, short(numbers), []])) == [7, short(numbers), []]


def test_a_short_list_is_not_made_longer_than_it_can_be() -> None:
    assert long([3, -5], 6) == [3, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="at most 6"):
        long([3, -6], 6)
    with pytest.raises(ValueError, match="at most 6"):
        long([-(10**12)], 6)


def test_sums_with_an_older_one_have_no_led_documents() -> None:
    assert plus([1, 2, 0, 4, 0, 0, 1, 0], [1, 0, 1, 0, 0, 1]) == [2, 2, 1, 4, 0, 1]


def test_the_newest_strata_are_pooled_once_there_are_too_many() -> None:
    strata = {f"s{number}": (number + 1, {"gender": [1, 2, 0, 4, 0, 0]}) for number in range(300)}
    out = pooled(strata, ["s0"])
    assert len(out) == MOST
    assert "s0" in out and "s299" in out
    left = [each for name, each in strata.items() if name not in out]
    assert out[OTHER][0] == sum(documents for documents, _ in left)
    assert out[OTHER][1]["gender"][0] == len(left)
    assert pooled(out, list(out)) == out


def test_sums_add_up_by_stratum_and_attribute() -> None:
    a = {"x": (2, {"gender": [1, 1, 0, 1, 0, 0]}), "y": (1, {})}
    b = {"x": (3, {"gender": [2, 0, 3, 0, 0, 5], "age": [1, 1, 1]})}
    assert added(a, b) == {"x": (5, {"gender": [3, 1, 3, 1, 0, 5], "age": [1, 1, 1]}), "y": (1, {})}
