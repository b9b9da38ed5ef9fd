"""Whom a review without capitals tells of by a noun alone, though he has a name there: «a man who sacrifices everything».

A reviewer retells a named character's story as that of «a woman who …», judges an actor as «a guy who …», and puts names into
brackets or into the next sentence. Minor figures («a waitress spills coffee on him») and people at large are nobody named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

from evenflow.transforms import people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import characters, leads, pronouns, sets
from evenflow.transforms.substitution.binding import may_be_name
from evenflow.transforms.substitution.characters import PERHAPS, PLAYERS, SURELY, A, Told
from evenflow.transforms.substitution.sets import Item

INDEFINITE = frozenset(("a", "an"))  # how A begins
BEFORE, AFTER = 90, 90  # characters on either side of a noun that say what it is to the work
AROUND = 4  # sentences before one that say what it is about
REACH = 1  # sentences before and after one in which a name may be that of whom it tells
# Of what a work is about: «the story of a woman who …», «begins with a man living …».
TOLD_OF = re.compile(
    r"\b(?:(?:is|are|was|film|movie|picture|drama|comedy|one|story|stories|it|mostly|all|only|really|not)\s+about|concerning|"
    r"(?:story|stories|tale|tales|life|lives|portrait|account|saga|adventures?|study|chronicle|plight|journey|descent|struggle|fate|"
    r"rise|fall|desperation|depth|transformation|mind|world|performance|portrayal|misadventures?|exploits|possession|character)\s+"
    r"(?:of|for)|(?:centers|centres|focuses|revolves)\s+(?:on|around)|(?:begins|opens|starts(?:\s+out)?)\s+(?:with|as)|tells\s+of|"
    rf"(?:premise|plot|story|it)[^.;:]{{0,40}}:)\s+{A}$"
)
# Of whom a reviewer has an opinion: «you've got to hand it to a guy who …», «it is hard not to congratulate a guy for …».
JUDGED = re.compile(
    r"\b(?:hand\s+it\s+to|congratulat\w+|blam(?:e|es|ing)|root(?:ing)?\s+for|get\s+behind|cheer(?:ing)?\s+for|care\s+(?:about|for)|"
    rf"sympathi[sz]e\s+with|relate\s+to|identify\s+with|getting\s+to\s+know|get\s+to\s+know)\s+{A}$"
)
SEEN_AS = re.compile(rf"\b(?:for|from|as|like)\s+{A}$")
# «what a woman !»
EXCLAIMED = re.compile(rf"\bwhat\s+{A}$")
GOES_ON = re.compile(
    r"\s+(?:who(?:se|['’]s)?|that|with|of\s+(?:his|her)|for\s+\w+ing|trying|caught|trapped|torn|forced|haunted|driven|obsessed|living|"
    r"learning|struggling|suffering|waiting|looking|searching|going|coming|in|on|from)\b|\s*,"
)
ONLY_AS = re.compile(r"(?:^|[.,;:(]\s*)(?:as|for)\s+" + A + "$")
# «for a guy who gets so much money , his record is poor»
JUDGED_FIRST = re.compile(r"\W*for\s+" + A + "$")
# What the person is to the work stands behind: «a man who will become more of a supporting character».
A_PART = re.compile(
    r"\s+(?:who|that)\b[^.;:()]{0,30}\b(?:is|was|be|becomes?|became|as)\s+(?:(?:more|less|much|most)\s+(?:of\s+)?)?(?:an?|the)\s+"
    r"(?:[\w'’-]+\s+){0,3}(?:characters?|protagonists?|villains?|sidekicks?)\b"
)
HEROES = frozenset(("hero", "heroine", "heroes", "heroines"))
OF_MANY = leads.after("any|every|each|no|all|most|without|typical|usual|unsung", 2)
OURS = leads.after("our|the|these|those|both|two|three|four", 4)
OUR = leads.after("our", 3)
OF_ANYBODY = re.compile(
    r"\b(?:any|every|each|no|another|other|less|more|better|different|lesser|whichever|which|what)\s+(?:[\w-]+\s+){0,2}$"
)
# «king ( martin vidnovic )», «boy ( played by cole and dylan sprouse )»: an actor stands in brackets.
BRACKET = re.compile(
    r"\(\s*(?:(?:played|voiced|portrayed)\s+by\s+)?([^\W\d_][\w'’.-]*)\s+(?:(?:and|&)\s+)?([^\W\d_][\w'’.-]*|\))"
)
BRACKETED = re.compile(r"[^.,;:()\n]{0,40}(?=\()")
ACTED = re.compile(r"(?:(?:played|voiced|portrayed)\s+by)\s")
# «two guys … : tim and bob», «a group of men , led by jimmy»
LED_BY = re.compile(r"\s*,\s*(?:led|headed|lead)\s+by\b")
# «a wife constantly nagging him , elizabeth ( mimi rogers )»
NAMED_THEN = re.compile(r"\s[^.;:()\n]{0,40},\s+([^\W\d_]{3,})(?:\s+[^\W\d_]+)?\s+\(")
# «mohr ( suicide kings , paulie )», «michael ( his brother )»: in brackets behind a name stands who it is, and in which film.
BEHIND_NAME = re.compile(r"([^\W\d_]{3,})\s+\(\s*(?:[\w'’-]+\s+){0,3}$")
CLOSES = re.compile(r"\s*[,)]")
# «even charming guys end up unlucky , and jack ends up in jail»
EVEN = re.compile(r"\beven\s+(?:[\w'’-]+\s+){0,2}$")
KIN = frozenset(
    (
        *("dad", "daddy", "father", "grandfather", "grandma", "grandmother", "grandpa", "mama", "mamma", "mom", "mommy"),
        *("mother", "mum", "mummy", "papa", "sis", "bro"),
    )
)
# Whose kin somebody is, where nothing says it («issues with mama»).
WHOSE = leads.after_possessor(rf"an?|the|this|that|any|every|each|no|another|own|{leads.POSSESSIVES}|single|foster", 3)
# «gilbert grape ( johnny depp ) is a young man», «… ( tim roth ) , a wealthy man»
AFTER_BRACKET = re.compile(r"\)\s*(?:,|--?|–|—|is|was|as|plays?)\s+(?:(?:both|also|just|now|not|still|once)\s+)?" + A + "$")
# «thora birch is a young actress», «darlene cates , a first-time actor», «jane burnham is both an innocent girl»
SAID_OF = re.compile(
    r"(?:^|[.,;:(]\s+|\b(?:and|but|while|as|that|because|since|though|when|where|if)\s+)((?:[^\W\d_][\w'’-]*\s+){1,3}?)"
    r"(?:(?:is|was|isn['’]t|wasn['’]t|becomes|became|remains)\s+(?:(?:both|also|just|now|not|still|really|basically|simply)\s+)?|,\s+)"
    + A
    + "$"
)
MANY_ARE = re.compile(
    r"\b(?:are|were|as)\s+(?:(?:both|just|two|three|four|five|a (?:couple|pair|group|bunch) of)\s+)+(?:[\w'’-]+\s+){0,3}$"
)
COUNTED = leads.after("two|three|four|five|both|pair of|couple of|group of|trio of", 3)
ONE_IS = re.compile(
    r"\W*(?:one|the first|the (?:older|younger|elder|eldest)|they|these|both)\b(?:\s+of\s+(?:them|these))?\s+"
    r"(?:is|are)\s+(\w+)\s+(\w+)"
)
# «four girls rule the school . courtney shane , played by …»
NAMED_FIRST = re.compile(r"\W*([^\W\d_][\w'’-]+)(?:\s+([^\W\d_][\w'’-]+))??\s*(?:,\s+(?:played|voiced)\s+by|\()")
# A sentence that begins with what somebody is: «a kind woman , her last act …».
BEGINS = re.compile(r"\W*" + A + "$")
APPOSED = re.compile(r"\s+,\s+(?:his|her|he|she)\b|,\s+(?:his|her|he|she)\b")
NAMED_AT = re.compile(
    r"(?<![\w'’-])([^\W\d_]{3,})(?=(['’]s)\s|\s+\(|\s+(?:is|was|has|decides|finds|must|gets|meets)\b|\s*,\s+(?:an?|the|who|whose)\b)"
)
RARE = (None, "0000")
PLAIN = frozenset(
    (
        *("man", "woman", "guy", "girl", "boy", "lady", "gal", "dude", "chick", "fellow"),
        *("father", "mother", "husband", "wife", "son", "daughter"),
    )
)


MOST_SENTENCES = 3  # over more of them a review tells of nobody who has no name
EARLY = 40  # characters from a sentence's start within which a pronoun goes on with whom the sentence before has told of


def is_minor(sentences: Sequence[tuple[int, int]], items: Sequence[Item], own: Collection[int]) -> bool:
    """Whether words are those of a figure that comes in as one of many and goes soon («a boy falls ill … the boy …»).

    items: of one person, in the text's order. own: the sentences in which he is one of many.
    """
    first = items[0]
    if first.kind != "noun" or first.sentence not in own or items[-1].sentence - first.sentence >= MOST_SENTENCES:
        return False
    told = first.sentence  # the last sentence that goes on with him
    for item in items:
        if item.sentence == told:
            continue
        early = item.sentence == told + 1 and item.start - sentences[item.sentence][0] <= EARLY
        if item.kind == "noun" or (item.kind == "pronoun" and early):
            told = item.sentence
        else:
            return False
    return True


class Filmed:
    """The nouns of one review.

    sentences: (start, end) in order. named: the named people of a sentence.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], named: Callable[[int], Sequence[Person]]):
        self._text = text
        self._sentences = sentences
        self._named = named
        self._unknown: dict[int, bool] = {}

    def told(self, item: Item, sex: str, known: bool = False) -> Told | None:
        """Confidence and reason of a noun for somebody who has a name in the review; None if it does not look so.

        known: whether the text has told of them before, by the same word.
        """
        return self._told(item, sex) or characters.told(item, self._place(item, sex, known))

    def _place(self, item: Item, sex: str, known: bool) -> characters.Place:
        start, end = self._sentences[item.sentence]
        first = self._sentences[max(0, item.sentence - AROUND)][0]
        near = partial(self._is_near, item.sentence, sex)
        return characters.Place(self._text, start, end, near, self._names, self._text[first:start], known)

    def _told(self, item: Item, sex: str) -> Told | None:
        start, end = self._sentences[item.sentence]
        before = self._text[max(start, item.start - BEFORE) : item.start]
        after = self._text[item.end : min(end, item.end + AFTER)]
        if self._is_bracketed(after):
            return SURELY, sets.NAMED
        behind = BEHIND_NAME.search(before) if CLOSES.match(after) else None
        if behind is not None and self._names(behind[1]):
            return SURELY, sets.NAMED
        if item.word in HEROES:
            return self._hero(item, before, sex)
        if item.kind == "plural":
            return self._many(item, before, after, sex)
        one = not INDEFINITE.isdisjoint(before.split())  # else nothing that has A is before it
        if one and (AFTER_BRACKET.search(before) or self._is_said_of_name(before)):
            return SURELY, sets.REFERS
        then = NAMED_THEN.match(after)
        if then is not None and self._names(then[1]) and people.first_names().get(then[1], sex)[0] in (sex, people.EITHER):
            return SURELY, sets.NAMED
        if A_PART.match(after):
            return PERHAPS, sets.WORK
        if item.word in KIN and not WHOSE.search(before) and self._has_names(item.sentence):
            return PERHAPS, sets.REFERS
        if item.start - start < BEFORE and item.sentence:
            first = BEGINS.fullmatch(before) and APPOSED.match(after)
            if first or (one and JUDGED_FIRST.fullmatch(before) and GOES_ON.match(after)):
                return PERHAPS, sets.REFERS
        goes_on = GOES_ON.match(after) is not None
        judged = (one and goes_on and JUDGED.search(before)) or (after.lstrip()[:1] == "!" and EXCLAIMED.search(before))
        plain = one and item.word in PLAIN
        if plain and judged and item.sentence:
            return PERHAPS, sets.REFERS
        framed = plain and (TOLD_OF.search(before) or (goes_on and SEEN_AS.search(before)) or ONLY_AS.search(before))
        player = item.word in PLAYERS and not OF_ANYBODY.search(before)
        if (framed or player) and self._is_near(item.sentence, sex):
            return PERHAPS, sets.WORK
        if plain and TOLD_OF.search(before) and self._is_near(item.sentence, sex, characters.STORY):
            return PERHAPS, sets.WORK  # whom the story is about has a name, if not beside
        return None

    def _hero(self, item: Item, before: str, sex: str) -> Told | None:
        """A work has its heroes' names: «our outlaw hero»."""
        if OF_MANY.search(before):
            return None
        plural = item.kind == "plural"
        if plural and not OUR.search(before) and not (OURS.search(before) and self._is_near(item.sentence, sex)):
            return None
        return PERHAPS, sets.WORK

    def _many(self, item: Item, before: str, after: str, sex: str) -> Told | None:
        if LED_BY.match(after) and self._is_near(item.sentence, sex):
            return PERHAPS, sets.WORK
        if (MANY_ARE.search(before) or EVEN.search(before)) and self._is_near(item.sentence, sex, 0):
            return PERHAPS, sets.REFERS
        following = item.sentence + 1
        if COUNTED.search(before) and following < len(self._sentences):
            one = ONE_IS.match(self._text, *self._sentences[following])
            one = one or NAMED_FIRST.match(self._text, *self._sentences[following])
            if one is not None and any(map(self._names, filter(None, one.groups()))):
                return PERHAPS, sets.WORK
        return None

    def _is_bracketed(self, after: str) -> bool:
        """Whether an actor's name stands in brackets behind a noun."""
        lead = BRACKETED.match(after)
        bracket = BRACKET.match(after, lead.end()) if lead is not None else None
        if bracket is None:
            return False
        if ACTED.search(after, 0, bracket.end()) or self._names(bracket[1]):
            return True
        return bracket[2] != ")" and self._is_rare(bracket[2]) and may_be_name(bracket[2]) and bracket[1] not in pronouns.CLOSED

    def _is_said_of_name(self, before: str) -> bool:
        """Whether what stands before a noun makes it a predicate or an apposition of a name."""
        match = SAID_OF.search(before)
        if match is None or (match.start() == 0 and len(before) == BEFORE):  # cut within a sentence
            return False
        said = match[1].split()
        if not people.NOT_NAMES.isdisjoint(said) or not pronouns.CLOSED.keys().isdisjoint(said):
            return False
        alone = len(said) == 1 and "," not in match[0][match.end(1) - match.start() :]  # «macdonald isn't a funny guy»
        return any(word in people.lone_names() for word in said) or ((alone or self._is_rare(said[-1])) and may_be_name(said[-1]))

    def _is_near(self, place: int, sex: str, reach: int = REACH) -> bool:
        """Whether somebody of a sex is named in a sentence or beside it."""
        near = range(max(0, place - reach), min(len(self._sentences), place + reach + 1))
        return any(self._has_name(number, sex) for number in near)

    def _has_names(self, place: int) -> bool:
        """Whether somebody of any sex is named in a sentence."""
        return self._has_name(place, people.FEMALE) or self._has_name(place, people.MALE)

    def _has_name(self, place: int, sex: str) -> bool:
        if any(person.sex in (sex, people.EITHER) for person in self._named(place)):
            return True
        if place not in self._unknown:
            start, end = self._sentences[place]
            said = {match[1]: match[2] is not None for match in NAMED_AT.finditer(self._text, start, end)}
            self._unknown[place] = any(
                (owns or self._is_rare(word)) and word not in people.lone_names() and may_be_name(word)
                for word, owns in said.items()
            )
        return self._unknown[place]

    @staticmethod
    def _names(word: str) -> bool:
        if word in pronouns.CLOSED:
            return False
        known = word in people.first_names() or word in people.KNOWN_SURNAMES
        return known or (Filmed._is_rare(word) and may_be_name(word))

    @staticmethod
    def _is_rare(word: str) -> bool:
        return pronouns.shipped().classes.get(word) in RARE
