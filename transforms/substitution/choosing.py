"""Chooses the counterpart of a word: its candidates, and one choice for it throughout a set.

In the main paper (4.2.4, word selection) an LLM chooses from the minority group's words, or one of
them is drawn. Here only words of the same role are candidates. For a paired list these are the
pairs and the words that the role map gives for the same role. Each has the capitals of what it
replaces; article and possessive follow the chosen word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from evenflow.transforms.substitution import agreement
from evenflow.transforms.substitution.judges import Embedded, Slot, SubstitutionJudge
from evenflow.transforms.substitution.roles import Role
from evenflow.transforms.substitution.sets import Item
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList


def group_counterparts(words: WordList) -> dict[str, dict[str, tuple[str, ...]]]:
    """Group each label's counterparts by their group.

    Args:
        words: The list with its pairs.

    Returns:
        By label and group, the counterparts in the list's order.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for label, others in words.counterparts.items():
        own = found.setdefault(label, {})
        for other in others:
            group = words.groups[words.labels[other]]
            own[group] = (*own.get(group, ()), other)
    return found


def add_role_words(
    pairs: Mapping[str, Sequence[str]], roles: Iterable[Role]
) -> Mapping[str, Sequence[str]]:
    """Append the words of a label's roles to its counterparts.

    Args:
        pairs: The counterparts by group.
        roles: The roles of the label.

    Returns:
        By group, the counterparts and after them the words of the roles.
    """
    out = pairs
    for role in roles:
        groups = {**role.words, **pairs}
        out = {group: (*out.get(group, ()), *role.words.get(group, ())) for group in groups}
    return out


def draw_key(identity: str, attribute: str, items: Sequence[Item]) -> str:
    """Make the key that decides the random draws of a set.

    Args:
        identity: Identifies the document.
        attribute: The set's attribute.
        items: The set's items, at least one.

    Returns:
        A key of the document and the place where the set begins.
    """
    return json.dumps([identity, attribute, items[0].start])


class WordChooser:
    """Chooses the words to put in for the items of a set.

    Args:
        judge: Chooses among candidates.
        labels: The group of each folded label.
        confidence: Of the set, 0 to 1.
        key: The key of `draw_key`.

    Attributes:
        settled: Whether all choices so far are final.
    """

    def __init__(
        self, judge: SubstitutionJudge, labels: Mapping[str, str], confidence: float, key: str
    ):
        self.settled = True
        self._judge, self._labels, self._confidence, self._key = judge, labels, confidence, key
        self._chosen: dict[tuple[str, ...], str | None] = {}

    def choose(self, text: str, sentence: tuple[int, int], item: Item, target: str) -> str | None:
        """Choose the word to put in for an item.

        The same candidates for the same word are chosen from once.

        Args:
            text: The document.
            sentence: (start, end) of the item's sentence.
            item: The item.
            target: The target group.

        Returns:
            The word, empty where the item is removed, None where no candidate fits.
        """
        first = item.replacements[target]
        # The embedded judge always chooses the first.
        if not first or type(self._judge) is Embedded:
            return first
        original, (start, end) = text[item.start : item.end], sentence
        candidates = self._candidates(item, original, target) if self._judge.chooses else (first,)
        known = (original, *candidates)
        if known not in self._chosen:
            place = Slot(
                text[start:end],
                item.start - start,
                item.end - start,
                candidates,
                self._confidence,
                self._key,
            )
            self._chosen[known], settled = self._judge.choose_counterpart(place)
            self.settled = self.settled and settled
        return self._chosen[known]

    def _candidates(self, item: Item, original: str, target: str) -> tuple[str, ...]:
        """The words that may stand there, the best first; the others are labels of the target."""
        listed = [
            word
            for word in item.choices.get(target, ())
            if self._labels.get(spelling.fold(word)) == target
        ]
        return tuple(
            dict.fromkeys(
                [
                    item.replacements[target],
                    *(agreement.recase(original, item.canonical, word) for word in listed),
                ]
            )
        )
