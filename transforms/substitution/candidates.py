"""Whom a pronoun may mean who is in no chain yet: named people and people without gender, and how likely each is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenflow.transforms import english, people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution.chains import Chain
from evenflow.transforms.substitution.wordsets import WordSets

WINDOW = 3  # sentences back in which an antecedent is looked for
SUBJECT = 40  # characters from a sentence's start within which its subject most likely ends
QUANTIFIERS = frozenset(("any", "every", "each", "no"))
GENERIC = re.compile(r"\W*\b(?:any|every|each|no)\s+(\w+)(?:\s+(\w+))?", re.IGNORECASE)
# What speaks for those in no chain, by kind, and for a subject; the most that is possible; and what each sentence further
# back takes away.
FITTING, SURE, PERHAPS, WITHOUT_GENDER = 0.9, 0.5, -0.6, 0.3
OF_SUBJECT = 1.0
MOST_STANDING = FITTING + OF_SUBJECT + 1e-9
FURTHER = 1.5
# «jules: nah he gave it to his drummer»: a label at a line's start says who speaks, hardly who is spoken of.
SPEAKER = re.compile(r"(?:\A|\n|[.?!][”’]?\s)[ \t>*_\[(]*$")
LABEL = 4.0
BEFORE_OBJECT = english.words("before_object")


@dataclass(slots=True)
class Candidate:
    """Someone whom a pronoun may mean, a chain, a named person or a person without gender: where, and how likely at that."""

    at: int
    end: int
    sentence: int
    standing: float
    chain: Chain | None = None
    person: Person | None = None


class Candidates:
    """The candidates of one text who are in no chain, for the items of one group after the other.

    sentences: (start, end) in order. words: of the sentences.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], words: WordSets):
        self._text = text
        self._sentences = sentences
        self._words = words
        self._of_group: dict[int, list[Person]] = {}
        self._neutral: dict[int, list[int]] = {}
        self._not_chained: dict[int, list[Candidate]] = {}
        self._titled: set[int] = set()

    def begin(self, titled: set[int]) -> None:
        """Begin with another group. titled: where its titles end that may change."""
        self._of_group.clear()
        self._not_chained.clear()
        self._titled = titled

    def people(self, sentence: int) -> list[Person]:
        """The named people of a sentence."""
        if not self._titled:
            return self._words.named(sentence)
        if sentence not in self._of_group:
            self._of_group[sentence] = [each for each in self._words.named(sentence) if not self._belongs_to_title(each)]
        return self._of_group[sentence]

    def _belongs_to_title(self, person: Person) -> bool:
        """Whether a name is that of a «Mr» or «Ms» who may change: then it says nothing of the sex."""
        return any(end <= person.start <= end + 2 for end in self._titled)

    def in_no_chain(self, sentence: int, sex: str) -> list[Candidate]:
        """Those in a sentence who are in no chain: named people of a sex or of either, and people without gender."""
        known = self._not_chained.get(sentence)
        if known is None:
            known = self._not_chained[sentence] = []
            for person in self.people(sentence):
                if person.sex in (sex, people.EITHER):
                    bonus = FITTING if person.sex == sex else SURE if person.sure else PERHAPS
                    standing = bonus + self.standing(person.start, sentence)
                    if self._text.startswith(":", person.end) and SPEAKER.search(
                        self._text, max(0, person.start - 8), person.start
                    ):
                        standing -= LABEL
                    known.append(Candidate(person.start, person.end, sentence, standing, person=person))
            for at in self.people_without_gender(sentence):
                known.append(Candidate(at, at + 1, sentence, WITHOUT_GENDER + self.standing(at, sentence)))
        return known

    def score(self, candidate: Candidate, start: int, sentence: int) -> float:
        """How likely a candidate is meant by a pronoun at start in a sentence."""
        if candidate.sentence == sentence:
            return candidate.standing
        score = candidate.standing - FURTHER * (sentence - candidate.sentence)
        return score - 1.0 if self._text.find("\n\n", candidate.at, start) >= 0 else score

    def standing(self, at: int, sentence: int) -> float:
        """What the place of somebody in a sentence says for them."""
        start, _ = self._sentences[sentence]
        nearby = max(start, at - SUBJECT)
        before = self._text[nearby:at].split()
        score = OF_SUBJECT if nearby == start and len(before) <= 2 else 0.0  # most likely the subject
        if before and before[-1].lower().strip(",") in BEFORE_OBJECT:
            score -= 0.5
        return score

    def people_without_gender(self, sentence: int) -> list[int]:
        """Where people without gender begin in a sentence («the engineer», «every …»)."""
        if sentence not in self._neutral:
            start, end = self._sentences[sentence]
            words = self._words[sentence]
            some = not people.PERSON_NOUNS.isdisjoint(words)
            self._neutral[sentence] = people.without_name(self._text, start, end) if some else []
            if not self._neutral[sentence] and not QUANTIFIERS.isdisjoint(words):
                generic = GENERIC.match(self._text, start, end)
                if generic is not None and any(people.is_person_noun(word) for word in generic.groups("")):
                    self._neutral[sentence] = [start]
        return self._neutral[sentence]
