"""Words of sentences."""

from __future__ import annotations

from evenflow.transforms.wordsets import WordSets, words_of


def test_words_are_those_of_the_sentence_in_lower_case() -> None:
    text = "The end. Half-sisters met, they said."
    words = WordSets(text, [(0, 8), (9, len(text))])
    assert words[1] == {"half", "sisters", "met", "they", "said"}
    assert words[0] == words_of("THE END") == {"the", "end"}
