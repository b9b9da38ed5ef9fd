"""Which counterpart is put in: the candidates that a place has, and one choice for a word
throughout a set.

Main paper, 4.2.4, word selection: an LLM chooses from the minority group's words, or one of them is
drawn. Here only words of the same role are candidates (of a paired list the pairs and what the role
map says is as good), each with the capitals of what it replaces; article and possessive follow the
word that was chosen.
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


def paired(words: WordList) -> dict[str, dict[str, tuple[str, ...]]]:
    """Each label's counterparts by their group, as the list pairs them."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for label, others in words.counterparts.items():
        own = found.setdefault(label, {})
        for other in others:
            group = words.groups[words.labels[other]]
            own[group] = (*own.get(group, ()), other)
    return found


def with_roles(
    pairs: Mapping[str, Sequence[str]], roles: Iterable[Role]
) -> Mapping[str, Sequence[str]]:
    """A label's counterparts by group, and behind them the words of its roles."""
    out = pairs
    for role in roles:
        groups = {**role.words, **pairs}
        out = {group: (*out.get(group, ()), *role.words.get(group, ())) for group in groups}
    return out


def key_of(identity: str, attribute: str, items: Sequence[Item]) -> str:
    """What the draws of a set hang on: its document, and where it begins there."""
    return json.dumps([identity, attribute, items[0].start])


class Choosing:
    """The words put in for the items of a set. settled: whether all that were chosen so far are
    final.

    labels: folded label -> group. confidence: of the set. key: see `key_of`.
    """

    def __init__(
        self, judge: SubstitutionJudge, labels: Mapping[str, str], confidence: float, key: str
    ):
        self.settled = True
        self._judge, self._labels, self._confidence, self._key = judge, labels, confidence, key
        self._chosen: dict[tuple[str, ...], str | None] = {}

    def word(self, text: str, sentence: tuple[int, int], item: Item, target: str) -> str | None:
        """What is put in for an item; empty where it falls away, None where nothing fits.

        The same candidates for the same word are chosen from once.
        """
        first = item.replacements[target]
        if not first or type(self._judge) is Embedded:  # whose choice is the first
            return first
        said, (start, end) = text[item.start : item.end], sentence
        candidates = self._candidates(item, said, target) if self._judge.chooses else (first,)
        known = (said, *candidates)
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

    def _candidates(self, item: Item, said: str, target: str) -> tuple[str, ...]:
        """The words that may stand there, the best first; beside the first, labels of the target
        alone.
        """
        listed = [
            word
            for word in item.choices.get(target, ())
            if self._labels.get(spelling.fold(word)) == target
        ]
        return tuple(
            dict.fromkeys(
                [
                    item.replacements[target],
                    *(agreement.recase(said, item.canonical, word) for word in listed),
                ]
            )
        )
