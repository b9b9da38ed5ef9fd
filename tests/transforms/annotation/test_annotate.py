import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.config import load
from evenflow.transforms.annotation import mentions
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.annotation.mentions import MentionCounter
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.text.sentences import sentences

ANNOTATOR = Annotator(load(None))
WORDS = st.lists(
    st.sampled_from(
        ["She", "he", "a nun", "old man.", "The", "church", "in law", "!", "\n", "\n\n", "Dr."]
    ),
    max_size=12,
)
TEXTS = st.lists(WORDS.map(" ".join).filter(str.strip), min_size=1, max_size=6)


@given(TEXTS)
def test_a_block_counts_what_its_documents_have_one_by_one(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mentions, "PIECE", 40)
        figures, counts, *_ = ANNOTATOR.mentions.count(
            Documents("f", [str(i) for i in range(len(texts))], texts, list(range(len(texts))))
        )
    finder = LabelFinder(ANNOTATOR.lists)
    for number, words in enumerate(ANNOTATOR.lists):
        found = [[m for m in finder.find(text) if m.attribute == words.attribute] for text in texts]
        expected = np.array(
            [[sum(m.group == group for m in each) for group in words.groups] for each in found]
        )
        assert (counts[number] == expected).all()
        seen = figures.attributes[words.attribute]
        named = expected[expected.any(axis=1)]
        assert seen.documents == len(named)
        assert seen.counts == expected.sum(axis=0).tolist()
        assert seen.products == (named.T @ named).tolist()
        assert sum(seen.labels.values()) == expected.sum()
        assert [sum(each["counts"]) for each in seen.heavy] == sorted(
            expected.sum(axis=1)[expected.any(axis=1)], reverse=True
        )[:8]
    assert figures.documents == len(texts)
    assert figures.text_bytes == sum(len(text.encode()) for text in texts)


def test_relevant_sentences_and_a_bound_within_a_label() -> None:
    text = "She came. He saw her and him. Nobody else. The mother-\nin-law left."
    counter = MentionCounter(ANNOTATOR.lists, ANNOTATOR.attributes, {}, sentences=True)
    figures, *_ = counter.count(Documents("f", ["a"], [text], [0]))
    assert figures.sentences == len(sentences(text))
    assert figures.attributes["gender"].relevant == 3
    figures, *_ = ANNOTATOR.mentions.count(Documents("f", ["a"], [text], [0]))
    assert (figures.sentences, figures.attributes["gender"].relevant) == (None, None)


def test_measure_counts_as_annotate_does() -> None:
    block = Block("a.jsonl", 0, [b'{"text":"She and he.","tags":[1]}', b"no"], 0)
    measured, annotated = ANNOTATOR.measure(block), ANNOTATOR.annotate(block)
    assert (
        measured.attributes["gender"].counts
        == annotated.figures.attributes["gender"].counts
        == [1, 1]
    )
    assert measured.dead_reasons == annotated.figures.dead_reasons == {"not JSON": 1}
    assert (
        annotated.table.column_names[:3] == ["id", "text", "ordinal"]
        and annotated.table.column_names[-1] == "input:tags"
    )
    assert annotated.figures.input_bytes == sum(map(len, block.records))
