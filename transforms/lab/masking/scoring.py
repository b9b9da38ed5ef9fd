"""How far a model leans to one of two groups where a sentence names one (Thakur et al. 2023).

Section 3 of the paper: all words of a sentence that name a group are masked; at each, the model's
confidence in the word of one group less that in its counterpart is taken. A sentence's score is the
absolute value of their mean.

    score = | 1/n Σ_i (log p(first_i) − log p(second_i)) |

The paper says “confidence” only. Its published means of up to 6.85 cannot be differences of
probabilities, so logarithms are taken here: then a difference of log-probabilities is one of logits
too. A word and its counterpart must be one token each. The paper adds new words to the model's
vocabulary, where nothing has taught it what they mean. Here such words are masked and not scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenflow.transforms.lab.language_models import heads
from evenflow.transforms.lab.language_models.masked import MaskedModel
from evenflow.transforms.lab.masking.sentences import Sentence, Word
from evenflow.transforms.substitution import sets

SEVERAL, LONG, MASK = "several tokens", "longer than the context", "the mask's own token"
DIGITS = 6  # of a score: what differs by the cut of a batch alone is far below
# Tokens of a batch with its padding: on a CPU so few that a layer's values stay in its cache
# (4,096 take about twice as long, with BERT-base), on a GPU enough to fill it
CPU_TOKENS, GPU_TOKENS = 256, 16384
WOULD_SAY = 3  # words that the model would have said, for each mask

Pair = tuple[str, str]  # two groups in the list's order
Forms = tuple[int, Word, tuple[str, str]]  # number of a word, the word, its form in both groups


class Said(NamedTuple):
    """What a model makes of a word and its counterpart.

    `words`: The word of the first group and that of the second.
    """

    start: int
    end: int
    words: tuple[str, str]
    probabilities: tuple[float, ...] = ()
    would_say: tuple[str, ...] = ()


@dataclass(frozen=True)
class Leaning:
    """How far a model leans in a sentence.

    `mean`: Mean difference in nats; above 0 it leans to the first.
    """

    pair: Pair
    mean: float
    said: tuple[Said, ...]

    @property
    def score(self) -> float:
        """The absolute mean."""
        return abs(self.mean)


@dataclass
class Left:
    """What was not scored.

    `words`: Number of mentions of each word that the model cuts into several tokens.
    """

    sentences: Counter[str] = field(default_factory=Counter[str])
    words: Counter[str] = field(default_factory=Counter[str])


class Scorer(Protocol):
    """Scores sentences."""

    left: Left

    def score(self, sentences: Sequence[Sentence]) -> list[list[Leaning]]:
        """The leanings of each sentence, one for each pair of groups that it has."""
        ...


class Remembering:
    """A scorer that scores the same sentences once; it keeps all scores in memory."""

    def __init__(self, scorer: Scorer):
        self.left = Left()
        self._scorer = scorer
        self._known: dict[Hashable, tuple[list[list[Leaning]], Left]] = {}

    def score(self, sentences: Sequence[Sentence]) -> list[list[Leaning]]:
        """The leanings of each sentence, one for each pair of groups that it has."""
        key = tuple(
            (each.text, *((word.start, word.end) for word in each.words)) for each in sentences
        )
        if key not in self._known:
            self._scorer.left = Left()
            self._known[key] = self._scorer.score(sentences), self._scorer.left
        found, left = self._known[key]
        self.left.sentences.update(left.sentences)
        self.left.words.update(left.words)
        return found


def pairs(sentence: Sentence, groups: Sequence[str]) -> Iterator[tuple[Pair, list[Forms]]]:
    """The pairs of groups of a sentence."""
    found: dict[Pair, list[Forms]] = {}
    for number, word in enumerate(sentence.words):
        original = sentence.text[word.start : word.end]
        for other, counterpart in word.counterparts.items():
            forms = {word.group: original, other: counterpart}
            first, second = sorted(forms, key=groups.index)
            if not word.even:
                both = forms[first], forms[second]
                found.setdefault((first, second), []).append((number, word, both))
    yield from sorted(found.items())


class _Masked(NamedTuple):
    """A sentence with masks: its tokens, and the position of each word's mask."""

    tokens: list[int]
    places: list[int]


class MaskedScorer:
    """Scores with a masked language model.

    `batch_tokens`: Most tokens of a batch; None: what suits its device.
    """

    def __init__(
        self,
        model: MaskedModel,
        groups: Sequence[str],
        batch_tokens: int | None = None,
    ):
        self.left = Left()
        self._model, self._groups = model, groups
        on_gpu = model.loaded.device.type == "cuda"
        self._batch_tokens = batch_tokens or (GPU_TOKENS if on_gpu else CPU_TOKENS)
        self._tokenizer = model.loaded.tokenizer
        self._known: dict[tuple[str, bool], int | None] = {}

    def score(self, sentences: Sequence[Sentence]) -> list[list[Leaning]]:
        """Score sentences."""
        masked = self._masked(sentences)
        asked: dict[int, list[tuple[Pair, Forms, list[int]]]] = {}
        for number, (sentence, own) in enumerate(zip(sentences, masked, strict=True)):
            if own is None:
                continue
            tokens = [
                (pair, each, ids)
                for pair, words in pairs(sentence, self._groups)
                for each in words
                if (ids := self._tokens(sentence.text, each)) is not None
            ]
            if tokens:
                asked[number] = tokens
            else:
                self.left.sentences[SEVERAL] += 1
        out: list[list[Leaning]] = [[] for _ in sentences]
        rows = {number: own for number in asked if (own := masked[number]) is not None}
        for number, values in self._predicted(rows):
            found: dict[Pair, list[tuple[Said, float]]] = {}
            says = [self._would_say(each) for each in values]
            for pair, (place, word, forms), ids in asked[number]:
                logs = values[place, ids].astype(np.float64)
                first, second = (round(float(each), DIGITS) for each in np.exp(logs))
                said = Said(word.start, word.end, forms, (first, second), says[place])
                found.setdefault(pair, []).append((said, float(logs[0] - logs[1])))
            out[number] = [
                Leaning(
                    pair,
                    round(sum(each for _, each in words) / len(words), DIGITS),
                    tuple(said for said, _ in words),
                )
                for pair, words in found.items()
            ]
        return out

    def _masked(self, sentences: Sequence[Sentence]) -> list[_Masked | None]:
        """The sentences with all words masked; None for one that cannot be."""
        if not sentences:
            return []
        token, mask = self._tokenizer.mask_token, self._model.mask
        texts: list[str] = []
        for sentence in sentences:
            masks = [sets.Edit(word.start, word.end, token) for word in sentence.words]
            texts.append(sets.apply(sentence.text, masks))
        out: list[_Masked | None] = []
        given = self._tokenizer(texts, verbose=False)["input_ids"]
        for sentence, tokens in zip(sentences, given, strict=True):
            places = [at for at, each in enumerate(tokens) if each == mask]
            fits = len(tokens) <= self._model.context
            if fits and len(places) == len(sentence.words):
                out.append(_Masked(tokens, places))
            else:
                self.left.sentences[MASK if fits else LONG] += 1
                out.append(None)
        return out

    def _would_say(self, values: Any) -> tuple[str, ...]:
        """The likeliest words of a mask."""
        best = np.argpartition(-values, WOULD_SAY)[:WOULD_SAY]
        best = best[np.argsort(-values[best], kind="stable")]
        return tuple(self._tokenizer.decode([int(each)]).strip() for each in best)

    def _tokens(self, text: str, given: Forms) -> list[int] | None:
        """The token of each form; None where one has several, or is not in the vocabulary."""
        _, word, forms = given
        spaced = text[word.start - 1 : word.start].isspace()
        found = [self._token(form, spaced) for form in forms]
        if None in found:
            self.left.words[word.folded] += 1
            return None
        return [each for each in found if each is not None]

    def _token(self, form: str, spaced: bool) -> int | None:
        """The only token of a form, as it is after a blank or without one."""
        key = form, spaced
        if key not in self._known:
            ids = self._model.pieces(f" {form}" if spaced else form)
            one = len(ids) == 1 and ids[0] != self._tokenizer.unk_token_id
            self._known[key] = ids[0] if one else None
        return self._known[key]

    def _predicted(self, rows: dict[int, _Masked]) -> Iterator[tuple[int, Any]]:
        """Numbers of sentences with the log-probabilities (n, V) at their masks."""
        import torch

        loaded = self._model.loaded
        order = sorted(rows, key=lambda number: len(rows[number].tokens))
        for chosen in self._batches([len(rows[number].tokens) for number in order], order):
            tokens, seen = heads.padded([rows[number].tokens for number in chosen], loaded)
            at = [(row, place) for row, each in enumerate(chosen) for place in rows[each].places]
            where = torch.tensor(at, device=loaded.device).T
            values = heads.log_probabilities(
                loaded.model, *where, input_ids=tokens, attention_mask=seen
            ).numpy(force=True)
            begin = 0
            for number in chosen:
                size = len(rows[number].places)
                yield number, values[begin : begin + size]
                begin += size

    def _batches(self, lengths: Sequence[int], order: Sequence[int]) -> Iterator[list[int]]:
        """Cut an order by ascending length into batches."""
        batch: list[int] = []
        for length, number in zip(lengths, order, strict=True):
            if batch and length * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(number)
        if batch:
            yield batch
