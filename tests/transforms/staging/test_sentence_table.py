from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.gates.expectations import sentence_suite
from evenflow.schemas.documents import SENTENCES
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.staging import sentence_table
from evenflow.transforms.staging.sentence_table import GONE, Change, Finding, Rows, complete
from evenflow.transforms.substitution.sets import Edit, Set

TEXT = "He ran. An old man sat. Rain fell. She sang."
SPANS = [(0, 7), (8, 23), (24, 34), (35, 44)]
MENTIONS = [
    Mention(0, 2, "he", "gender", "male"),
    Mention(11, 14, "old", "age", "old"),
    Mention(15, 18, "man", "gender", "male"),
    Mention(35, 38, "she", "gender", "female"),
]
GROUPS = {"gender": ("female", "male"), "age": ("young", "old")}


def rows(**more: object) -> pa.Table:
    out = Rows(GROUPS)
    out.add(7, "d7", TEXT, SPANS, MENTIONS, **more)  # type: ignore[arg-type]
    return out.table()


def test_a_row_for_each_relevant_sentence_and_attribute() -> None:
    found = rows().to_pylist()
    assert [(row["sent_id"], row["attribute"]) for row in found] == [
        (0, "gender"),
        (1, "age"),
        (1, "gender"),
        (3, "gender"),
    ]
    for row in found:
        assert (
            TEXT[row["start"] : row["end"]] == row["sent_text"]
            and row["id"] == "d7"
            and row["relevant_sentence"]
        )
    assert dict(found[2]["words_per_group"]) == {"female": [], "male": ["man"]}
    assert dict(found[1]["counts_per_group"]) == {"young": 0, "old": 1}


def changed(target: str | None) -> tuple[pa.Table, list[Change], list[Edit]]:
    edits = [Edit(0, 2, "She"), Edit(15, 18, "woman")]
    men = Set(
        "gender",
        "male",
        {"female": edits},
        0.9,
        (0, 1),
        (SPANS[0], SPANS[1]),
        (MENTIONS[0], MENTIONS[2]),
    )
    return rows(), [Change(4, men, target, "" if target else "idiom")], edits if target else []


def test_what_became_of_sets_and_sentences() -> None:
    table, changes, edits = changed("female")
    found = complete(table, {7: changes}, {7: edits})
    assert found.schema == SENTENCES
    outcomes = {(row["sent_id"], row["attribute"]): row for row in found.to_pylist()}
    assert (
        outcomes[0, "gender"]["text_cda"] == "She ran."
        and outcomes[1, "gender"]["text_cda"] == "An old woman sat."
    )
    # Another attribute's change
    assert outcomes[1, "age"]["text_cda"] is None and outcomes[1, "age"]["sets"] == []
    assert outcomes[3, "gender"]["sets"] == []
    assert [
        (each["set"], each["target"], each["reason"]) for each in outcomes[0, "gender"]["sets"]
    ] == [(4, "female", None)]
    table, changes, edits = changed(None)
    kept = complete(table, {7: changes}, {7: edits}).to_pylist()
    assert all(row["text_cda"] is None for row in kept) and kept[0]["sets"][0]["reason"] == "idiom"


def test_places_are_those_of_the_text_that_is_left() -> None:
    findings = {(0, "gender"): Finding(0.9, None, 0.8, None, True)}
    table = rows(findings=findings, places=[GONE, 0, 16, 27])  # the first sentence was taken out
    mention = Mention(27, 30, "she", "gender", "female")
    she = Set(
        "gender", "female", {"male": [Edit(27, 30, "He")]}, 1.0, (2,), ((27, 36),), (mention,)
    )
    found = complete(
        table, {7: [Change(0, she, "male", "")]}, {7: [Edit(27, 30, "He")]}
    ).to_pylist()
    assert [row["text_cda"] for row in found] == [None, None, None, "He sang."]
    assert [row["remove_sentence"] for row in found] == [True, False, False, False]


def test_the_file_does_not_depend_on_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_table, "ROW_GROUP", 5)
    table = pa.concat_tables([complete(rows(), {}, {})] * 4)
    for name, cuts in (("a", [0, 16]), ("b", [0, 3, 3, 11, 16])):
        (tmp_path / name).mkdir()
        parts = [table.slice(start, stop - start) for start, stop in pairwise(cuts)]
        shard = sentence_table.write(parts, tmp_path / name, 3)
        assert shard is not None and (shard.name, shard.rows) == ("part-00000003.parquet", 16)
    a, b = (tmp_path / name / "part-00000003.parquet" for name in "ab")
    assert a.read_bytes() == b.read_bytes() and pq.read_table(a) == table
    assert sentence_table.write([], tmp_path, 4) is None


def test_the_frame_of_the_checks_tells_what_is_wrong(tmp_path: Path) -> None:
    findings = {
        (0, "gender"): Finding(0.9, None, 0.8, None, False),
        (3, "gender"): Finding(0.9, None, 0.8, None, True),
    }
    table = complete(rows(findings=findings), {}, {})
    cda = pa.array([None, "An old man sat.", None, "She hummed."], pa.large_string())
    table = table.set_column(table.schema.get_field_index("text_cda"), "text_cda", cda)
    end = pa.array([7, 23, 99, 44], pa.int64())
    table = table.set_column(table.schema.get_field_index("end"), "end", end)
    pq.write_table(table, tmp_path / "t.parquet")
    frame = sentence_suite.read(tmp_path / "t.parquet", {"gender": (0.7, 0.8)})
    assert frame[sentence_suite.LENGTH].tolist() == [0, 0, 15 - 91, 0]
    assert frame[sentence_suite.SAME].notna().tolist() == [False, True, False, False]
    assert frame[sentence_suite.KEPT].notna().tolist() == [True, False, False, False]
    assert sentence_suite.read(tmp_path / "t.parquet", {})[sentence_suite.KEPT].isna().all()


def test_a_sentence_that_names_a_group_without_a_label_has_a_row() -> None:
    rows = Rows({"gender": ("female", "male"), "age": ("old",)})
    finding = Finding(0.9, None, 0.8, None, True)
    rows.add(
        0,
        "a",
        TEXT,
        SPANS,
        MENTIONS[:1],
        {(2, "age"): finding, (0, "gender"): finding},
        [GONE, 0, GONE, 11],
    )
    table = rows.table().to_pylist()
    assert [
        (row["attribute"], row["sent_id"], row["relevant_sentence"], row["at"]) for row in table
    ] == [("gender", 0, True, GONE), ("age", 2, False, GONE)]
    assert dict(table[1]["counts_per_group"]) == {"old": 0} and table[1]["remove_sentence"]
