"""Words for people of an age: where a claim or a scene has them as it might others, and where they are somebody's offspring."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from evenflow.transforms import english
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.leads import NUMBERS
from evenflow.transforms.substitution.placing import DETERMINER, is_verb
from evenflow.transforms.substitution.roles import COLLECTIVE, NOUN
from evenflow.transforms.substitution.sets import Item

# «a crowd of overzealous teenagers», «several kids»: in the plural these are seldom a film's named characters.
SOME_PEOPLE = leads.after(
    r"(?<!the )(?<!these )(?<!those )(?<!both )(?<!re )(?<!are )(?<!her )(?<!his )(?<!their )"
    rf"(?:some|several|{NUMBERS}|dozens? of|hundreds of|(?:groups?|bunch|crowds?|gangs?|trio|pair|couple|band|mob|pack) of)",
    2,
)
FEW_SMALL = (
    r"(?:(?:an?|no|any|more|two|three|four|five|six|seven|\d+|small|young|other|their|the|beloved|dear|darling|own|lovely|beautiful)"
    r"\s+)*$"
)
BORN = re.compile(
    r"\b(?:rais(?:e|es|ed|ing)|bear|bears|bore|bearing|want(?:s|ed)?|expect(?:s|ed|ing)|wish(?:es|ed)? for|father(?:s|ed|ing)|"
    rf"mother(?:s|ed|ing)|(?:lost|losing|loses?|abandon(?:s|ed|ing)?)(?=\s))\s+{FEW_SMALL}",
    re.IGNORECASE,
)
# Whose children are meant, for words that mean offspring as often as an age.
KIN = re.compile(rf"\b(?:ha(?:ve|s|d|ving)|with|without|and)\s+{FEW_SMALL}", re.IGNORECASE)
CLAUSE = re.compile(r"(?:^|[,;:(–—?!.]|\b(?:because|but|when|that|if|so|while|since|though|where|why|and))\s*$", re.IGNORECASE)
# What a claim says of them; «kids who …», «kids being …» go on.
CLAIMS = re.compile(
    r"\s+(?:(?:are|were|have|had|do|did|will|would|can|could|should|may|might|always|never|often|rarely|usually|just|all)\b|"
    r"(?:are|were|do|did|would|could|should|ca|wo|have)n['’]?t\b)",
    re.IGNORECASE,
)
ON_SOMEBODY = re.compile(r"\s+(?:always |never |often )?[\w'’-]+\s+(?:me|him|her|us|them)\b", re.IGNORECASE)
THERE_IS = re.compile(r"\bthere(?:['’]?s|\s+(?:is|are|was|were))\s+(?:[\w'’-]+\s+){0,3}$", re.IGNORECASE)
# «oh you are against soldiers shooting kids?»; rape and abuse are of children as such
VICTIM_OF = leads.after(
    r"(?:kill|murder|shoot|bomb|slaughter|massacr|execut|stab|snip|behead|gass|starv)(?:e|s|es|ed|ing)?|"
    r"shot(?: at)?|beat(?:s|ing)?(?: up)?",
    4,
    but="who|that|and|or|but|with|for|because|by|in|at|to|when|while",
)
THE = leads.after("the", 1, leads.PLAIN)
THAT = re.compile(r"\b(?:that|this)\s+$", re.IGNORECASE)
SMALL_CHILDREN = english.words("small_children")
# «the expense of a child», «three kids and the fourth»
OFFSPRING_OF = leads.after(
    r"(?:expenses?|costs?|price|burden|loss|support|gift|joy|responsibility|upbringing|mother|father) of (?:an?|another|the)",
    1,
)
ONE_OF_A_FAMILY = re.compile(
    r"\s*,?\s+(?:and|with|but)\s+(?:the|a)\s+(?:first|second|third|fourth|fifth|sixth|eldest|oldest|youngest)\b", re.I
)
# «you hear that, Norwegian children?», whose comma a comment leaves out
CALLED_UPON = re.compile(
    r"(?:\b(?:you|did|do|y['’]?all|ya)\s+(?:hear|see|get|know|understand|remember|got|catch)\s+(?:that|this|it|me)|"
    r"\b(?:listen|hurry|shut|wake|buckle|cheer|grow|lighten)\s+up|"
    r"\b(?:thank you|thanks|welcome|come on|sorry|goodbye|good ?night|"
    r"congratulations|congrats|settle down|calm down|sit down|gather round|stay in school|don['’]?t do drugs))\s*,?\s+"
    r"(?:(?!(?:the|my|your|our|his|her|their|a|an|for|to|with|and|or|some|many|those|these|that)\b)[\w-]+\s+)?$",
    re.IGNORECASE,
)
# The young of a goat, on a plate.
COOKED = re.compile(
    r"\b(?:roast(?:s|ed|ing)?|brais(?:e|es|ed|ing)|stew(?:s|ed|ing)?|grill(?:s|ed|ing)?|(?:slow-?|spit-)?(?:cook|roast)(?:s|ed|ing)?|"
    r"barbecu(?:e|es|ed|ing)|marinat(?:e|es|ed|ing)|carv(?:e|es|ed|ing)|smok(?:e|es|ed|ing))"
    r"\s+(?:(?:an?|some|whole|tender|leg of)\s+){1,3}$",
    re.IGNORECASE,
)
# Those to whom something is given somewhere («distributed to children in hospital»), or who are taught («teaching the kids»).
GIVEN_TO = leads.after(
    r"(?:give|giv(?:es|en|ing)|gave|distribut(?:e|es|ed|ing)|donat(?:e|es|ed|ing)|deliver(?:s|ed|ing)?|hand(?:s|ed|ing)?|sen[dt]s?|"
    r"present(?:s|ed|ing)?|offer(?:s|ed|ing)?|show(?:s|ed|n|ing)?|bring(?:s|ing)?|brought|read(?:s|ing)?|taught|teach(?:es|ing)?|"
    r"wav(?:e|es|ed|ing)|(?:sell|s[oi]ng)s?|sold|play(?:s|ed|ing)?)(?:\s+[\w'’-]+){0,3}?\s+to",
    1,
)
SOMEWHERE = re.compile(
    r"\s+(?:in|at|from|on|across|outside|behind|near)\s+(?!(?:general|particular|need|trouble|danger|poverty)\b)\w"
)
DEFINITE = leads.after("the")
WHICH = re.compile(
    r"\s+(?:who|that|whose|with|in|from|at|on|next|behind|across|opposite|of|beside|under|by|near|wearing|holding)\b"
)
LIKENED = leads.after(r"as\s+\w+(?:\s+and\s+\w+)?\s+as\s+an?")  # «as frustrated as a kid in art class»
TAUGHT = leads.after(r"(?:teach(?:es|ing)?|taught|coach(?:es|ed|ing)?|train(?:s|ed|ing)?)\s+(?:the|those|these|some)", 1)

# A number that a verb shows, up to the end of the clause.
SHOWN = re.compile(
    r"\b(?:(is|was|has|does|isn['’]t|wasn['’]t|hasn['’]t|doesn['’]t)|(are|were|have|do|aren['’]t|weren['’]t))\b", re.I
)
WITH_OF = re.compile(r"\s+(?:of|in|from)\b", re.IGNORECASE)
SINGULAR_VERB = re.compile(r"\s+\w+[^s\W]s\b")
NO, BARELY, UNSURE = 0.1, 0.3, 0.4  # confidence that is left


def are_some_people(before: str) -> bool:
    """Whether several are spoken of whom nothing has named: «a bunch of teenagers»."""
    return SOME_PEOPLE.search(before) is not None


def may_be_anybody(word: str, many: bool, before: str, after: str, thing: str, of_work: bool) -> bool:
    """Whether a comment says of people of an age what it might say of others.

    So it does where a plural without an article begins a clause («teenagers have power»), of victims («stop killing kids»), and
    of one certain kid. many: whether the word is a plural. thing: the next word. of_work: whether a film or book is spoken of,
    whose small children are its audience.
    """
    if many and CLAUSE.search(before):
        if ON_SOMEBODY.match(after):
            return True  # «dogs attack him, children bully him»
        return is_verb(thing) or (CLAIMS.match(after) is not None and not (of_work and word in SMALL_CHILDREN))
    return not of_work and (VICTIM_OF.search(before) is not None or (word == "kid" and THE.search(before) is not None))


def are_said_so(before: str, many: bool) -> bool:
    """Whether «that» before a plural is no pronoun: «she said that kids draw it»."""
    return many and THAT.search(before) is not None


def is_told_of(text: str, item: Item, items: Sequence[Item], named: Callable[[int], Sequence[Person]]) -> bool:
    """Whether «the teenager» is one whom the text has named, as far as it says no more of who that is.

    items: all of the text. named: the named people of a sentence.
    """
    if item.kind != NOUN or item.word.endswith(("s", "children")):
        return False
    if not DEFINITE.search(text, max(0, item.start - 5), item.start) or WHICH.match(text, item.end):
        return False
    near = range(max(0, item.sentence - 2), item.sentence)
    return any(named(place) for place in near) and not any(
        other.group == item.group and other.kind == NOUN and other.sentence in near for other in items
    )


def are_given(before: str, after: str) -> bool:
    """Whether certain people get or learn something, or somebody is likened to one in a certain place."""
    if SOMEWHERE.match(after) is not None and (GIVEN_TO.search(before) or LIKENED.search(before)):
        return True
    return TAUGHT.search(before) is not None


def is_there(before: str) -> bool:
    """Whether a scene has them: «there's a kid on the roof»."""
    return THERE_IS.search(before) is not None


def is_offspring(before: str, after: str) -> bool:
    """Whether a family's children are meant by what stands around the word."""
    return OFFSPRING_OF.search(before) is not None or ONE_OF_A_FAMILY.match(after) is not None


def weigh_youth(item: Item, before: str, after: str) -> None:
    """«the youth»: a person, or all of them; a verb may tell, and only those who are many can become «the elderly»."""
    number = SHOWN.search(after)
    many = number is not None and number[2] is not None
    if item.kind == NOUN and not DETERMINER.search(before):
        item.lower(NO, sets.SENSE)  # the time of life: «the whiff of youth»
    if item.kind == COLLECTIVE and not many:
        goes_on = WITH_OF.match(after) is not None
        item.lower(BARELY if goes_on or number is not None or SINGULAR_VERB.match(after) else UNSURE, sets.UNSURE)
