"""A pronoun with nobody before it whom it could mean: anybody, or somebody who is named after it, long before, or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import lives, naming, sets
from evenflow.transforms.substitution.binding import PERHAPS
from evenflow.transforms.substitution.candidates import WINDOW, Candidates
from evenflow.transforms.substitution.chains import Chain
from evenflow.transforms.substitution.doubts import Doubts
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.unnamed import Unnamed
from evenflow.transforms.substitution.wordsets import WordSets

MEMORY = 8  # sentences back in which a named person still makes a pronoun without antecedent unsure
ATTRIBUTION = re.compile(r"[\"”’,]\s+$")
SAYS = re.compile(r"\s+(?:says|adds|explains|notes|warns|argues|claims)\b")
SAID = re.compile(r"\s+(?:also\s+)?(?:says|adds|explains|said|told|added|explained|warned)\b")
NAME_REACH = 400  # characters before a pronoun within which a name that no list has may be meant by it
REPORT = 400  # characters from which a text that says «he said» has most likely named him somewhere
OTHERS = {"f": ("he", "his", "him"), "m": ("she", "her")}  # by sex, the pronouns of the other one


class Lone:
    """The pronouns of one text that have no antecedent.

    sentences: (start, end) in order. words: of the sentences. report: of a report, who is unnamed in it.
    """

    def __init__(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        words: WordSets,
        candidates: Candidates,
        doubts: Doubts,
        report: Unnamed | None,
    ):
        self._text = text
        self._sentences = sentences
        self._words = words
        self._candidates = candidates
        self._doubts = doubts
        self._report = report

    def chain(self, item: Item, sex: str) -> Chain:
        """The chain that a pronoun begins, with the confidence that it means nobody who is named."""
        chain = Chain()
        caseless = self._words.caseless
        for person in self._candidates.people(item.sentence):  # «When she came home, Mary …»
            if person.start > item.end and person.sex in (sex, people.EITHER):
                comma = "," in self._text[item.end : person.start]
                if person.sex == sex:
                    chain.lower(0.2 if comma else 0.5, sets.UNSURE)
                elif comma and person.sure:
                    chain.lower(0.4, sets.UNSURE)
            elif person.start > item.end and not caseless and self._is_alone(item, person, sex):
                chain.lower(0.4, sets.UNSURE)  # «From her class, Brady learned …»
        if not caseless and self._is_other_sexed(item, sex):
            chain.lower(PERHAPS, sets.REFERS)
        if item.sentence == 0 and len(self._sentences) > 1 and self._is_named_next(sex):
            chain.lower(0.45, sets.UNSURE)
        remarks = caseless and not self._doubts.of_work  # these go from one person to the next
        for number in () if remarks else range(max(0, item.sentence - MEMORY), max(0, item.sentence - WINDOW)):
            for person in self._candidates.people(number):
                if person.sex == sex or (person.sex == people.EITHER and person.sure):
                    chain.lower(PERHAPS, sets.UNSURE)
        start, end = self._sentences[item.sentence]
        begins = item.start <= start + 1 or self._text.endswith(": ", start, item.start)
        if begins and not caseless and lives.is_told(self._text, start, end, self._words[item.sentence]):
            chain.lower(0.4, sets.REFERS)  # and so is whoever is theirs
        if self._may_be_named(item) or self.is_reported(item):
            chain.lower(0.4, sets.UNSURE)
        if self._report is not None and not self._report.is_general(item.start, item.sentence):
            chain.lower(0.4, sets.UNSURE)  # whoever it goes on with is named
        if self._doubts.hidden and self._doubts.may_be_named(item.sentence, sex):
            chain.lower(0.4, sets.UNSURE)
        return chain

    def is_reported(self, item: Item) -> bool:
        """Whether a pronoun is a report's source («…, he says», «She said …»), who was named before."""
        caseless = self._words.caseless
        if caseless and not self._doubts.of_work:
            return False  # comments tell what anybody said
        start = self._sentences[item.sentence][0]
        attributed = ATTRIBUTION.search(self._text, max(start, item.start - 3), item.start) is not None
        says = SAYS.match(self._text, item.end) is not None
        if says and (attributed or (item.start == start and item.sentence > 0 and not caseless)):
            return True
        report = len(self._text) > REPORT and (attributed or item.start == start)
        return report and SAID.match(self._text, item.end) is not None

    def _may_be_named(self, item: Item) -> bool:
        """Whether a name that no list has stands before a pronoun."""
        if self._words.caseless:
            start = self._sentences[max(0, item.sentence - 1)][0]
            return naming.has_unknown_subject(self._text, start, item.start)
        first = self._sentences[max(0, item.sentence - WINDOW)][0]
        return naming.may_be_named(self._text, max(first, item.start - NAME_REACH), item.start)

    def _is_named_next(self, sex: str) -> bool:
        """Whether the second sentence has somebody's full name: «He was born in a van. At thirty, Tom Bell …»."""
        return any(each.sex == sex and " " in self._text[each.start : each.end] for each in self._candidates.people(1))

    def _is_other_sexed(self, item: Item, sex: str) -> bool:
        """Whether a pronoun must mean somebody whose first name others than its sex have: «Rory makes a cake. She cuts it»."""
        if not self._words.whole.isdisjoint(OTHERS[sex]):
            return False
        return any(
            (person.start <= self._sentences[place][0] + 1 or self._text.endswith(", ", 0, person.start))
            and person.end < item.start
            for place in range(max(0, item.sentence - WINDOW), item.sentence + 1)
            for person in self._candidates.people(place)
        )

    def _is_alone(self, item: Item, person: Person, sex: str) -> bool:
        """Whether a name behind a pronoun and a comma is the clause's subject, in a text without pronouns of its sex."""
        if not self._words.whole.isdisjoint(OTHERS[sex]):
            return False
        return person.sure and "," in self._text[item.end : person.start] and self._text.endswith(", ", 0, person.start)
