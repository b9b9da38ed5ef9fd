"""The bias score with contextual vectors: by hand, with made states; and with encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bias_vectors import attribute
from parts import needs_training
from tiny_models import tiny_model

from evenflow.transforms.measures.bias_score import contextual, direction, states
from evenflow.transforms.measures.bias_score.contextual import ContextualScorer, ContextualVectors
from evenflow.transforms.measures.bias_score.score import UNIT, totals
from evenflow.transforms.measures.bias_score.states import States, Transformer

CONTEXT = 12  # pieces of `Made`
WIDE = 4  # letters of a piece
PLACES = {"she": (2.0, 0.0), "he": (-2.0, 0.0), "pret": (3.0, 0.0), "ty": (1.0, 8.0)}


class Made:
    """An encoder whose pieces have four letters, and states from a table; others are (0, 1)."""

    name, digest, size, averages = "made", "digest", 2, True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def states(self, sentences: Sequence[str]) -> Iterator[States]:
        self.asked += sentences
        for number in reversed(range(len(sentences))):  # in any order
            text = sentences[number]
            places = [
                (at, min(at + WIDE, b))
                for a, b in contextual._runs(text)
                for at in range(a, b, WIDE)
            ]
            cut = len(places) >= CONTEXT
            places = places[:CONTEXT]
            pieces = [text[a:b].lower() for a, b in places]
            rows = [PLACES.get(piece, (0.0, 1.0)) for piece in pieces]
            known = np.array(["q" not in piece for piece in pieces], bool)
            yield States(
                number,
                np.array([(0.0, 0.0), *rows]),  # a mark before the first word
                np.array([(0, 0), *places]),
                np.array([True, *known]),
                cut,
            )


def scorer(encoder: Made | None = None) -> ContextualScorer:
    space = ContextualVectors(encoder or Made())
    found = direction.find(space, attribute({"f": ["she"], "m": ["he"]}), [("she", "he")])
    assert found.explained == pytest.approx(1)
    return ContextualScorer(space, found, named=["she", "he"])


def test_a_word_by_hand() -> None:
    # pretty has the pieces (3, 0) and (1, 8): their mean is (2, 4). With she (2, 0), now (0, 1)
    # and the mark (0, 0) the mean of all is (6, 9) / 5. A piece's share is its product with that.
    she, pretty, now = scorer().parts("She: “pretty” now")
    assert pretty.leanings == pytest.approx((2 / 20**0.5, 0), abs=1e-5)
    assert (she.leanings, she.named, now.leanings) == ((0, 0), True, (0, 0))
    parts = np.array([2 * 6, 3 * 6 + 1 * 6 + 8 * 9, 1 * 9])
    found = [each.importance for each in (she, pretty, now)]
    assert found == pytest.approx(parts / parts.sum(), abs=1e-3)


def test_a_word_outside_the_vocabulary_has_no_vector() -> None:
    own = scorer()
    assert [part.leanings is None for part in own.parts("pretty qwerty")] == [False, True]
    assert own.score("pretty qwerty. Qw!", [0, 15]).known.tolist() == [True, False]


def test_words_behind_the_context_count_for_nothing_and_are_counted() -> None:
    own = scorer()
    read = own.read("pretty now. " + "now " * (CONTEXT - 1) + "pretty pretty", [0, 12])
    assert read.behind == 1  # the last but one has one piece within
    assert read.values[-1].tolist() == [0] * 5
    assert totals(read)[1, -1] == CONTEXT
    assert own.parts("now " * CONTEXT + "pretty")[-1].leanings is None


def test_a_long_sentence_is_cut_before_it_is_read_and_some_are_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []

    class Noted(Made):
        def states(self, sentences: Sequence[str]) -> Iterator[States]:
            asked.append(list(sentences))
            return super().states(sentences)

    own = scorer(Noted())
    monkeypatch.setattr(contextual, "READ_CHARACTERS", 200)
    monkeypatch.setattr(contextual, "TOGETHER", 400)
    asked.clear()
    text = "pretty " * 1000
    parts = [text, "Now x" + "x" * 300, *(f"She {number}." for number in range(200))]
    starts = [sum(map(len, parts[:at])) for at in range(len(parts))]
    read = own.read("".join(parts), starts)
    assert [len(each) for each in asked[0]][:2] == [len("pretty " * 28) - 1, 3]
    assert max(sum(map(len, each)) for each in asked) <= 400
    assert read.behind == 1000 - CONTEXT // 2 + 1
    monkeypatch.undo()
    whole = scorer().read("".join(parts), starts)
    assert (whole.values[:1000] == read.values[:1000]).all()
    assert max(map(len, own._kept)) <= contextual.KEPT_CHARACTERS


def test_a_text_is_the_sum_of_its_sentences_and_each_is_read_once() -> None:
    encoder = Made()
    own = scorer(encoder)
    encoder.asked.clear()
    text = "It is pretty. She left.\n\nIt is pretty."
    starts = own.starts(text)
    assert len(starts) == 3
    each = totals(own.read(text, starts))
    assert own.whole(text).absolute[0] == own.of(each.sum(axis=0, keepdims=True)).absolute[0]
    assert encoder.asked == ["It is pretty.", "She left."]
    alone = own.score("It is pretty.", [0])
    assert own.score(text, starts).absolute[[0, 2]].tolist() == [alone.absolute[0]] * 2


def test_single_words_add_up_to_the_score() -> None:
    own, text = scorer(), "A pretty day. He is pretty."
    read = own.read(text, [0, 14])
    found = own.words(read, totals(read))
    assert set(found) == {"f"} and found["f"]["pretty"]["n"] == 2
    whole = own.score(text, [0, 14]).absolute.sum()
    assert found["f"]["pretty"]["a"] * 1e-6 == pytest.approx(whole, abs=1e-5)
    assert UNIT > 1e5  # cosines are finer than what is printed


def test_lone_surrogates_and_empty_texts() -> None:
    own = scorer()
    assert own.score("pretty \ud800 pretty", [0]).known.tolist() == [True]
    assert not own.whole("").known.any() and not own.whole("…").known.any()


def sentences() -> list[str]:
    text = "the nurse is young and she said that he was a man in an old woman"
    return [text[at:end] for at in (0, 4, 10) for end in range(at + 3, len(text), 4)]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_training("torch", "transformers")
    return tiny_model(tmp_path_factory.mktemp("bert"), "bert")


def by_sentence(encoder: Any, given: list[str]) -> dict[str, bytes]:
    return {given[each.number]: each.states.tobytes() for each in encoder.states(given)}


def test_states_are_those_of_the_model(bert: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    encoder, text = Transformer(str(bert)), "the nurse said that she was young"
    (found,) = encoder.states([text])
    tokenizer = AutoTokenizer.from_pretrained(bert)
    with torch.inference_mode():
        own = AutoModel.from_pretrained(bert)(**tokenizer(text, return_tensors="pt"))[0][0]
    np.testing.assert_allclose(found.states, own.numpy(), atol=1e-5)
    assert not found.cut and not encoder.averages


@pytest.mark.parametrize("kind", ["bert", "shipped"])
def test_a_sentence_has_the_same_states_in_any_batch_to_the_bit(kind: str, bert: Path) -> None:
    encoder = Transformer(str(bert)) if kind == "bert" else states.Shipped()
    given = sentences()[:: 1 if kind == "bert" else 6]
    together = by_sentence(encoder, given)
    assert by_sentence(encoder, given[::-1]) == together
    some = given[1::3]
    assert by_sentence(encoder, some) == {text: together[text] for text in some}
    assert {text: by_sentence(encoder, [text])[text] for text in some[:4]} == {
        text: together[text] for text in some[:4]
    }


def test_batches_of_a_length_have_one_shape(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    encoder = Transformer(str(bert))
    shapes, threads, run = set(), set(), encoder._model.forward

    def seen(*args: Any, **given: Any) -> Any:
        shapes.add(tuple(given["input_ids"].shape))
        threads.add(torch.get_num_threads())
        return run(*args, **given)

    monkeypatch.setattr(encoder._model, "forward", seen)
    list(encoder.states([*sentences(), "the " * 20, "the " * 100]))
    assert shapes == {(states.ROWS, n) for n in (16, 32, 64)}  # 64: the model's context
    assert threads == {1}
