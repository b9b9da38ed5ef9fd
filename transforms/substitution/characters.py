"""Characters of a work whom a review without capitals tells of by a noun, and names elsewhere or by their actors.

«A wife constantly nagging him , elizabeth ( mimi rogers )», «which man is the real threat», «a guy … and some chick»: a
reviewer's readers know of whom it is said. So do they of sex itself where a character is told to have it: «one is a man».
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from evenflow.transforms import people
from evenflow.transforms.substitution import leads, sets, worktitles
from evenflow.transforms.substitution.coordination import PEOPLE_SINGULAR
from evenflow.transforms.substitution.gendered_nouns import RULERS
from evenflow.transforms.substitution.sets import Item

Told = tuple[float, str]
SURELY, PERHAPS = 0.1, 0.4  # confidence that is left to who is named, and to who most likely is
REACH = 90  # characters on either side of a noun that say who it is
STORY = 3  # sentences before and after one in which those have their names whom «the men» are
A = r"an?\s+(?:[\w'’-]+,?\s+(?:,\s+)?){0,4}?"
ROYAL = (RULERS - {"emperors", "empresses"}) | {"heir", "heiress"}
KIN = frozenset(("mom", "mommy", "mum", "mama", "momma", "mother", "dad", "daddy", "pop", "papa", "father", "grandma", "grandpa"))
HEROES = frozenset(("heroes", "heroines"))
PLAYERS = frozenset(("actor", "actress"))
DETERMINED = leads.after_possessor(rf"an?|the|this|that|these|every|each|any|no|some|one|another|what|{leads.POSSESSIVES}", 3)
LINKED = re.compile(r"\b(?:and|or|&|,|of)\s+$")
# «played by a less famous actress»: the part says which sex.
PLAYED_BY = re.compile(rf"\b(?:played|portrayed|voiced|performed)\s+by\s+{A}$")
# «chazz palminteri ( any actor with …»
ASIDE = re.compile(r"([\w'’.-]+)\s+\(\s*(?:any|every|an?|the|that|this|another)\s+(?:[\w'’-]+\s+){0,3}$")
WHICH = re.compile(r"\bwhich\s+$")
# «one is a man .», «martha is a boy ?»: nothing else is said of them.
IS_ONE = re.compile(
    r"(?:\b(?:is|was|['’]s|be|being|became|becomes?|becoming)|\bturns?\s+(?:out\s+to\s+be|into))\s+(?:(?:not|really|actually|just|also)\s+)?"
    r"(?:an?|the)\s+$"
)
ENDS = re.compile(r"\s*(?:[.;:!?)]|$)")
WHO_IS = re.compile(
    r"(?:([^\W\d_][\w'’-]+)\s+)?([^\W\d_][\w'’-]+)\s*,\s+who(?:['’]s|\s+(?:is|was|plays|becomes))\s+(?:(?:both|also|just|now|still|really|basically)\s+)?"
    rf"{A}$"
)
# A name that stands at a distance behind: «a man she does not love at all , cal hockley ( zane )».
LATE = re.compile(
    r"\s+(?!and\b|or\b)[^,.;:()\n]{2,70}?\s,\s+(?:named\s+)?([^\W\d_][\w'’.-]*)(?:\s+([^\W\d_][\w'’.-]*)){0,2}\s+\("
)
# «a young man , ma wing jing and his brother»
RIGHT_AFTER = re.compile(
    r"\s*,\s+([^\W\d_][\w'’.-]*)\s+(?:[^\W\d_][\w'’.-]*\s+)?([^\W\d_][\w'’.-]*)\s*(?:,|\(|\b(?:and|who|is|has|gets|must|finds|decides)\b)"
)
# A sentence that was cut within a name or behind one: «n , a woman who captured …».
CUT = re.compile(rf"\W*(?:[^\W\d_]{{1,2}}\s*)?,\s+{A}$")
GOES_ON = re.compile(
    r"\s+(?:who(?:se|['’]s)?|that|with|of|for|whom|trying|caught|trapped|torn|forced|haunted|driven|obsessed)\b|\s*,"
)
# A sentence that is no more than what somebody is: «a young girl going through …».
BEGINS = re.compile(rf"\W*{A}$")
FRAGMENT = re.compile(r"\s+(?:\w+ing|for|with|of|torn|caught|trapped|forced|haunted|driven|obsessed|in|from)\b|\s*,")
FINITE = re.compile(
    r"\b(?:is|was|are|were|am|has|had|have|does|did|do|can|could|will|would|must|may|might|shall|should|gets|goes|comes|takes|finds|tells|"
    r"says|makes|sees|meets|hears|runs|walks|gives|seems|becomes|wants|tries|asks|knows|shows|turns|warns|replies)\b|n['’]t\b"
)
# «a guy with just a bunch of theories and some chick with no training»
SOMEBODY = r"(?:man|woman|guy|gal|girl|boy|lady|gentleman|dude|chick|bloke|fellow|mother|father|wife|husband|sister|brother)"
WITH_OTHER = re.compile(rf"\s+(?:[\w'’-]+\s+){{0,8}}?and\s+(?:an?|some|one|another|his|her)\s+(?:[\w-]+\s+){{0,2}}({SOMEBODY})\b")
BESIDE_OTHER = re.compile(
    rf"\b(?:an?|some|one|another)\s+(?:[\w-]+\s+){{0,2}}({SOMEBODY})\s+(?:[\w'’-]+\s+){{0,8}}?and\s+(?:an?|some|one|another)\s+"
    r"(?:[\w-]+\s+){0,2}$"
)
MALE = frozenset(("man", "guy", "boy", "gentleman", "dude", "bloke", "fellow", "father", "husband", "brother"))
# Where a review tells of somebody who passes for the other sex, a noun for a sex says which he seems.
PASSING = re.compile(
    r"\b(?:transsexuals?|transvestites?|transgender(?:ed)?|cross-?\s?dress\w*|in\s+drag|drag\s+(?:queens?|kings?|aspect|act|show|routine)|"
    r"sex[- ]change|gender[- ]bend\w*|masquerad\w+\s+as|"
    r"dress(?:es|ed|ing)?\s+(?:up\s+)?(?:as|like)\s+an?\s+(?:man|woman|boy|girl))\b"
)
OF_PASSING = ("trans", "dress", "drag", "sex", "gender", "masquerad")  # one of these is in each of those
# People by name: «men by the names of ford and leone», «women like meryl streep», «a few men , including …».
NAMELY = re.compile(r"\s*,?\s+(?:including|such\s+as|like|namely)\s+(?:[^\W\d_][\w'’-]*\s+(?:and\s+)?)??([^\W\d_][\w'’-]+)\b")
BY_NAME = re.compile(r"\s+(?:by\s+the\s+names?\s+of|named|called)\s+[^\W\d_]")
# «two brothers - one of them traumatised»: each is told of.
PARTED = re.compile(r"\s*(?:[-,:;(–—]+\s*)+(?:one|the\s+(?:first|older|elder|younger))\b")
COUNTED = leads.after("two|three|four|five|both|pair of|couple of|group of|trio of", 2)
OURS = leads.after("our", 3)
THE = leads.after("the|these|those|both|they", 1)
OTHERS = leads.after("other|fellow|many more|several more", 1)
# What a real person says or does himself: «murphy has admitted in interviews that he is weary of women».
OFF_SCREEN = re.compile(r"\b(?:interviews?|interviewed|private\s+life|real[- ]life|off-?screen|tabloids?|paparazzi)\b")


class Place(NamedTuple):
    """Where a noun stands: its sentence's bounds; whether a person of its sex is named so near (in sentences), and whether a
    word may be a name."""

    text: str
    start: int
    end: int
    is_near: Callable[[int], bool]
    names: Callable[[str], bool]
    before: str  # what stands before the sentence, as far as it matters
    known: bool  # whether the text has told of them before without a name


def told(item: Item, at: Place) -> Told | None:
    """Confidence and reason of a noun for a character who is known; None if it does not look so."""
    text = at.text
    if worktitles.is_in_title(text, at.start, at.end, item.start, item.end):
        return SURELY, sets.WORK
    owner = worktitles.is_among_works(text, at.start, at.end, item.start, item.end)
    begins = owner and text[at.start : item.start].lstrip().startswith(owner) and not people.is_person_noun(owner)
    if owner and (begins or at.names(owner)):
        return SURELY, sets.WORK
    if item.word in ROYAL:
        return PERHAPS, sets.WORK
    before = text[max(at.start, item.start - REACH) : item.start]
    after = text[item.end : min(at.end, item.end + REACH)]
    return _many(item, before, after, at) if item.kind == "plural" else _one(item, before, after, at)


def _one(item: Item, before: str, after: str, at: Place) -> Told | None:
    if item.word in PLAYERS and PLAYED_BY.search(before):
        return PERHAPS, sets.WORK
    aside = ASIDE.search(before) if "(" in before else None
    if aside is not None and at.names(aside[1]):
        return PERHAPS, sets.REFERS
    who = WHO_IS.search(before) if "who" in before else None
    if who is not None and any(map(at.names, filter(None, who.groups()))):
        return SURELY, sets.REFERS
    if who is not None and not people.is_person_noun(who[2]) and at.is_near(STORY):
        return PERHAPS, sets.REFERS
    if _is_named_behind(after, at):
        return SURELY, sets.NAMED
    begins = item.start - at.start < REACH
    if begins and CUT.fullmatch(before) and GOES_ON.match(after):
        return PERHAPS, sets.REFERS
    if item.word in KIN and not DETERMINED.search(before) and not LINKED.search(before):
        return PERHAPS, sets.REFERS
    if item.word not in PEOPLE_SINGULAR:
        return None
    if WHICH.search(before) or (IS_ONE.search(before) and ENDS.match(after)):
        return PERHAPS, sets.COMPARED
    other = WITH_OTHER.match(after) or BESIDE_OTHER.search(before)
    if other is not None and (other[1] in MALE) != (item.word in MALE):
        return PERHAPS, sets.COMPARED
    if _tells_of_passing(at):
        return PERHAPS, sets.COMPARED
    if begins and BEGINS.fullmatch(before) and FRAGMENT.match(after) and FINITE.search(at.text, item.end, at.end) is None:
        return (PERHAPS, sets.REFERS) if at.is_near(1) else None
    return None


def _many(item: Item, before: str, after: str, at: Place) -> Told | None:
    if item.word in HEROES and (OURS.search(before) or at.is_near(0)):
        return PERHAPS, sets.WORK
    namely = NAMELY.match(after)
    if BY_NAME.match(after) or (namely is not None and at.names(namely[1])):
        return SURELY, sets.NAMED
    if COUNTED.search(before) and PARTED.match(after) and at.is_near(STORY):
        return PERHAPS, sets.WORK
    if OTHERS.search(before) and at.is_near(1):
        return PERHAPS, sets.REFERS
    if OFF_SCREEN.search(at.text, at.start, at.end) and at.is_near(0):
        return PERHAPS, sets.REFERS
    if not at.known and THE.search(before) and at.is_near(STORY):
        return PERHAPS, sets.REFERS
    if _tells_of_passing(at):
        return PERHAPS, sets.COMPARED
    return None


def _tells_of_passing(at: Place) -> bool:
    """Whether the sentence or what stands before it tells of somebody who passes for the other sex."""
    if not any(stem in at.before or at.text.find(stem, at.start, at.end) >= 0 for stem in OF_PASSING):
        return False  # mostly, and far faster told
    return PASSING.search(at.before) is not None or PASSING.search(at.text, at.start, at.end) is not None


def _is_named_behind(after: str, at: Place) -> bool:
    late = LATE.match(after)
    if late is not None and any(map(at.names, filter(None, late.groups()))):
        return True
    right = RIGHT_AFTER.match(after)
    return right is not None and any(map(at.names, right.groups()))
