"""Whoever a report tells of without a name, and names before or right after: «One farmer says …. Julian Baillie says …».

A report's lead tells what somebody is, its second or third sentence who. Whoever comes in there with a role of his own is
another: «A man was taken to hospital. Police officer John Smith said …».
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import leads
from evenflow.transforms.substitution.wordsets import WordSets

BACK = 12  # sentences before somebody in which a name may stand
NEXT = 2  # sentences after somebody in which the name comes
HEADED = 4  # sentences after a headline in which it comes
# Nobody certain: «any farmer who says so», «if a farmer loses his crop».
GENERIC = leads.after("any|every|each|no|whichever", 3)
CASE = r"\b(?:if|when|whether|unless|should|suppose|imagine|whenever)\s+(?:an?|one)\s"
SUPPOSED = re.compile(rf"{CASE}+(?:[\w'’-]+\s+){{0,3}}$", re.IGNORECASE)
ANYBODY = re.compile(
    rf"\b(?:any|every|each|whoever|any(?:one|body)|every(?:one|body)|some(?:one|body)|no(?:body| one))\b|{CASE}",
    re.IGNORECASE,
)
STOPS = frozenset('.!?"”:;,')  # with which a sentence ends, and neither headline nor caption does
INDEFINITE = frozenset(("a", "an", "one", "another", "some"))
# «Rooney, a researcher», «Müller was a student»
SAID_OF = re.compile(r"(?:[,–—(]|\b(?:is|was|as|be|been|became|becomes))\s*$")
NEAR = 3  # sentences back in which a capital before a verb counts for a name
ONE_OF = leads.after(r"one\s+of\s+(?:the|those|these|its|their)", 2)
WITH_ANOTHER = re.compile(r"\s+and\s+(?!(?:is|was|has|had|will|then|says|said)\b)")
# What comes before a name of the police and the courts, who are hardly those whom a report begins with.
OF_POLICE = frozenset(
    (*("sergeant", "constable", "detective", "inspector", "superintendent", "officer", "judge", "justice", "magistrate"),
     *("coroner", "commander", "captain", "lieutenant", "chief", "sheriff", "nurse", "paramedic"))
)  # fmt: skip
LAW = frozenset(("police", "officer", "detective", "judge", "magistrate", "policeman", "policewoman", "coroner"))
# A headline has no such word before its noun, a caption has («A woman places flowers …»).
DETERMINED = leads.after_possessor(f"an?|the|this|that|every|each|any|no|one|{leads.POSSESSIVES}", 3)
TITLE = re.compile(r"([A-Za-z]+)\.?\s+$")
# «Over the next five years, John Hopkins from Swan Hill will …»: what stands before a name that begins a sentence.
LEADING = re.compile(r"\W*(?:(?:[\w'’-]+\s+){1,7}[\w'’-]+,\s+)?(?:[\w'’-]+\.?\s+){0,4}$")
# Whom a name is said to work for: somebody who is asked, not told of.
OF_BODY = re.compile(
    r",?\s+(?:from|of|with|at)\s+[^,.;]{0,60}\b(?:Department|Police|Services?|Ambulance|Court|Hospital|Council|Federation|Association|"
    r"Authority|Bureau|Ministry|Brigade|Union|Commission|Agency)\b"
)
# «Department of Primary Industries says»
BEFORE_PLACES = [[word] for word in ("of", "the", "for", "in", "at", "from", "and")]
SAID_BY = re.compile(r"\b(?:says?|said|adds?|added|told|explains?|explained)\s+(?:[A-Z][a-z]+\.?\s+)?$")
WORD = re.compile(r"[\w'’-]+")


def is_supposed(lead: str) -> bool:
    """Whether what stands before a noun makes it one of all, or a mere case («any spokesman», «if a salesman calls»)."""
    return GENERIC.search(lead) is not None or SUPPOSED.search(lead) is not None


class Unnamed:
    """The people without a name of one report.

    sentences: (start, end) in order. words: of the sentences.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], words: WordSets):
        self._text = text
        self._sentences = sentences
        self._words = words

    def is_general(self, at: int, place: int) -> bool:
        """Whether a pronoun of a sentence goes back to anybody at all: «If a grower loses his crop»."""
        return ANYBODY.search(self._text, self._sentences[place][0], at) is not None

    def has_name(self, at: int, place: int, sex: str) -> bool:
        """Whether somebody in a sentence, whom a pronoun goes back to, is most likely one whom the article names."""
        start = self._sentences[place][0]
        before = self._text[max(start, at - 40) : at]
        word = WORD.match(self._text, at)
        first = word[0].lower() if word is not None else ""
        lead = f"{before}{first} "
        if is_supposed(lead):
            return False
        new = first in INDEFINITE and not SAID_OF.search(before)  # then it is nobody who was named before
        before_it = self._is_named_above(place, sex) if new else self.is_named_before(at, place, sex)
        return before_it or self.is_named_next(at, place, sex)

    def is_named_before(self, at: int, place: int, sex: str) -> bool:
        """Whether somebody of a sex, or of one that nobody knows, has a name in the article before a place of a sentence."""
        begin = self._words.article(at)[0]
        for back in range(place, max(-1, place - BACK), -1):
            if self._sentences[back][1] <= begin:
                break
            for each in self._words.named(back):
                known = each.sure or (place - back <= NEAR and people.VERB.match(self._text, each.end) is not None)
                if known and each.start < at and each.sex in (sex, people.EITHER):
                    return True
        return False

    def is_named_next(self, at: int, place: int, sex: str, noun: str = "") -> bool:
        """Whether one of the next sentences begins with, or quotes, somebody whose name is new and who has no other role.

        noun: what the one without a name is called, in small letters.
        """
        begin, end = self._words.article(at)
        for number in range(place + 1, min(place + 1 + NEXT, len(self._sentences))):
            if self._sentences[number][0] >= end:
                break
            for person in self._words.named(number):
                if person.sure and person.sex in (sex, people.EITHER) and self._comes_in(person, number, noun):
                    return self._is_new(person, begin, place)
        return False

    def is_one_of(self, at: int, end: int, place: int, sex: str, plural: bool, noun: str) -> bool:
        """Whether a noun text[at:end] is one person without a name («a man», «one of the men») whom the report names next."""
        start = self._sentences[place][0]
        lead = self._text[max(start, at - 60) : at]
        if plural and not ONE_OF.search(lead):
            return False
        if is_supposed(lead) or (not plural and WITH_ANOTHER.match(self._text, end)):
            return False
        return self._is_named_above(place, sex) or self.is_named_next(at, place, sex, noun)

    def is_headed(self, at: int, place: int, sex: str) -> bool:
        """Whether a noun begins a headline and the article under it has somebody's full name: «Rural woman finalist»."""
        start, end = self._sentences[place]
        if self._text[start:end].rstrip()[-1:] in STOPS or (
            not self._text.startswith(("\n", "\r"), end) and end < len(self._text)
        ):
            return False
        if DETERMINED.search(self._text, start, at):
            return False
        stop = self._words.article(at)[1]
        for number in range(place + 1, min(place + 1 + HEADED, len(self._sentences))):
            if self._sentences[number][0] >= stop:
                break
            for person in self._words.named(number):
                if person.sure and person.sex in (sex, people.EITHER) and self._is_full(person):
                    return True
        return False

    def _is_named_above(self, place: int, sex: str) -> bool:
        """Whether nothing but headlines and captions stands above a sentence, and one of them has somebody's full name."""
        begin = self._words.article(self._sentences[place][0])[0]
        for back in range(place - 1, max(-1, place - HEADED), -1):
            start, end = self._sentences[back]
            if end <= begin:
                return False
            if self._text[start:end].rstrip()[-1:] in STOPS:
                return False
            if any(each.sure and each.sex in (sex, people.EITHER) and self._is_full(each) for each in self._words.named(back)):
                return True
        return False

    def _comes_in(self, person: Person, place: int, noun: str) -> bool:
        """Whether a name is in full, is told to do something or quoted, and stands behind no role of its own."""
        start = self._sentences[place][0]
        text = self._text
        lead = text[start : person.start]
        if not self._is_full(person):
            return False
        quoted = SAID_BY.search(lead) is not None
        if not (LEADING.fullmatch(lead) or quoted or people.SPEAKS.match(text, person.end)):
            return False
        said = [word.lower() for word in WORD.findall(lead)]
        if noun not in LAW and not OF_POLICE.isdisjoint(said[-3:]):
            return False
        if OF_BODY.match(text, person.end):
            return False
        last = said[-1] if said else ""
        return last in people.TITLES or last == noun or not people.is_person_noun(last)

    def _is_full(self, person: Person) -> bool:
        """Whether somebody is called by two names, the first of which is one, or by a title and a name."""
        words = self._text[person.start : person.end].split()
        title = TITLE.search(self._text, max(0, person.start - 12), person.start)
        if title is not None and title[1].lower() in people.TITLES:
            return True
        if len(words) < 2:
            return False
        known = words[0].lower().split("-")[0] in people.first_names()
        if known or people.SPEAKS.match(self._text, person.end) is None:
            return known
        return self._text[max(0, person.start - 8) : person.start].split()[-1:] not in BEFORE_PLACES

    def _is_new(self, person: Person, begin: int, place: int) -> bool:
        """Whether the article has not had a name up to a sentence, but for its headline."""
        surname = self._text[person.start : person.end].split()[-1]
        first = self._words.place_of(begin)
        while first < place and self._text[slice(*self._sentences[first])].rstrip()[-1:] not in STOPS:
            first += 1
        return self._text.find(surname, self._sentences[first][0], self._sentences[place][1]) < 0
