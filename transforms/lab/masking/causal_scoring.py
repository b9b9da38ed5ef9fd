"""How far a causal model leans to one of two groups in a sentence.

It cannot fill a mask. Its score is the difference of the log-probabilities of the whole sentence
with all words in the form of one group and of the other, over the number of words.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.lab.language_models.causal import CausalModel, Text
from evenflow.transforms.lab.masking.scoring import (
    DIGITS,
    LONG,
    Leaning,
    Left,
    Pair,
    Said,
    batch_size,
    pairs,
)
from evenflow.transforms.lab.masking.sentences import Sentence, exchanged
from evenflow.transforms.models.loading import LanguageModelError


class CausalScorer:
    """Scores with a causal language model.

    Args:
        model: The model.
        groups: The attribute's groups.
        batch_tokens: Most tokens of a batch; None: what suits its device.
    """

    def __init__(self, model: CausalModel, groups: Sequence[str], batch_tokens: int | None = None):
        self.left = Left()
        self._model, self._groups = model, groups
        self._batch_tokens = batch_tokens or batch_size(model)

    def score(self, sentences: Sequence[Sentence]) -> list[list[Leaning]]:
        """Score sentences.

        Args:
            sentences: The sentences.

        Returns:
            The leanings of each.
        """
        out: list[list[Leaning]] = [[] for _ in sentences]
        asked: list[tuple[int, Pair, tuple[Said, ...], list[Text]]] = []
        for number, sentence in enumerate(sentences):
            for pair, words in pairs(sentence, self._groups):
                texts = [self._model.ending("", exchanged(sentence, group)) for group in pair]
                try:
                    self._model.check(texts, "a sentence")
                except LanguageModelError:
                    self.left.sentences[LONG] += 1
                    continue
                said = [Said(word.start, word.end, both) for _, word, both in words]
                asked.append((number, pair, tuple(said), texts))
        asked.sort(key=lambda each: len(each[3][0].tokens))
        start = 0
        while start < len(asked):
            stop, longest = start, 0
            while stop < len(asked):
                longest = max(longest, *(len(each.tokens) for each in asked[stop][3]))
                if stop > start and 2 * longest * (stop + 1 - start) > self._batch_tokens:
                    break
                stop += 1
            part = asked[start:stop]
            scores = self._model.score([texts for *_, texts in part])
            for (number, pair, said, _), (first, second) in zip(part, scores, strict=True):
                mean = round((first.total - second.total) / len(said), DIGITS)
                out[number].append(Leaning(pair, mean, said))
            start = stop
        return out
