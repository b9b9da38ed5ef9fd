"""Whoever is called, with few marks or none: «do your research man.», «a religion of peace guys the bombs …», «yes girl».

A call says nothing of a person's sex that a change could turn; «guys» and «man» are said to anybody.
"""

from __future__ import annotations

import re

from evenflow.transforms import english, people
from evenflow.transforms.substitution import pronouns

CALLED = frozenset(
    (
        *("man", "boy", "girl", "bro", "brother", "sister", "sis", "son", "lady", "dude", "king", "queen"),
        *("guys", "fellas", "boys", "gals", "ladies", "girls", "gentlemen", "gents", "dudes", "lads", "brothers", "sisters"),
    )
)
MANY = frozenset(("guys", "fellas", "boys", "gals", "ladies", "girls", "gentlemen", "gents", "dudes", "lads"))
BROTHERS = frozenset(("bro", "brother", "dude", "man", "sis", "sister"))
BARE_END = r"(?:^|[.!?,;:\n(]\s*)"
INTERJECTIONS = (
    "yes|yeah|yep|yup|yas+|ye|ya|no|nah|nope|hey|hi|hello|oh|ok|okay|thanks|thank you|sorry|please|lo+l+|lmf?a+o+|"
    "rofl|(?:ha|he){2,}h?|bruh|wow|damn|omg|"
    "congrats|cheers|bye|welcome|preach|slay|sure|true|right|exactly|same|amen|alright|well|well done|love it|you go|"
    "good (?:morning|night|evening|luck|job|work|game|for you)|(?:nice|great) (?:one|work|job)"
)
GREETED = re.compile(rf"{BARE_END}(?:(?:{INTERJECTIONS}),?\s+){{1,2}}$", re.IGNORECASE)
CLOSES = re.compile(r"\s*(?:[.,!?;:\n)]|$)")
# A clause that begins behind a call. What a plural may do by itself («girls get …», «guys are …») is none.
CLAUSE = (
    r"lets?\b|let['’]s|let us|please|pls|listen|(?:get|got) it|guess what|"
    r"stop it|calm down|hold on|look at this|come on|cmon|gather|wake up|"
    r"don['’]?t (?:you|be|forget|worry|let|even|listen|feed)|"
    r"(?:do|did|can|could|would|will|are|have|dont|should) (?:you|u|we|yall)|"
    r"(?:you|u|we|yall) (?:need|should|have|must|can|cant|are|better|gotta|all|did|got|do|dont|just|really)|"
    r"you['’]?re|youre|were|we['’]re|i (?:think|need|have|am|just|dont|swear|want|got|was|really)|i['’]?m|i['’]?ve|"
    r"its|it['’]s|it is|this (?:is|was|isnt)|that (?:is|was)|that['’]?s|theres?|there['’]?s|there is|"
    r"what|whats|why|how|where|is (?:this|that|it|there)|get it\s*\?"
)
BEGINS_CLAUSE = re.compile(rf"\s*,?\s+(?:{CLAUSE})(?!\w)", re.IGNORECASE)
COMMANDED = re.compile(r"\s*,\s+([a-z]+)\s+(?:an?|the|your|my|me|us|it|up|down|to|over|here|in|out|on)\b", re.IGNORECASE)
STRONG = re.compile(r"\s*,?\s+(?:let['’]?s|please|listen|calm down|come on|gather|wake up)\b", re.IGNORECASE)
NEW_CLAUSE = re.compile(
    r"\s+(?:the|this|that|these|those|i|im|we|it|its|they|theyre|he|she|you|youre|my|if|when|just|lets)\b", re.IGNORECASE
)
OPENS = re.compile(BARE_END + r"(?:(?:and|so|but|ok|okay|well|now|alright|right|look|listen)\s+)?$", re.IGNORECASE)
LINKED = re.compile(r"(?:\s{2,}|\b(?:and|so|but|then|now)\s+)$")
# «a religion of peace guys the …»: a preposition has its noun already.
HAS_OBJECT = re.compile(
    r"\b(?:of|in|on|for|with|about|at|into|from|like)\s+(?:(?:the|this|that|my|your|our|a|an)\s+)?([^\W\d_]{3,})\s+$",
    re.IGNORECASE,
)
DESCRIBING = re.compile(
    r"\w+(?:ish|an|ian|ese|ic|al|ous|ful|ive|less|able|ed|ing|er|est)|all|any|bad|big|black|brown|cute|dumb|fat|few|gay|good|hot|jew|"
    r"little|many|most|nice|old|other|poor|random|real|rich|right|same|short|small|some|stupid|tall|these|those|tough|trans|ugly|white|"
    r"wise|wrong|young|both|two|three|school|teen|college|frat|fan|tech|it|sports|party|pretty|crazy|lonely",
    re.IGNORECASE,
)
# «do your research man.», «get a life dude!»: a command has its object already.
COMMAND = re.compile(
    r"(?:^|[.!?,;:\n]\s*|\b(?:and|so|just|please|pls|then|maybe|dude|bro|well|ok|go|lol)\s+)"
    r"(?:do|check|read|watch|use|mind|learn|open|stop|quit|drop|shut|cut|enjoy|try|face|know|respect|live|keep|get|take|have|give|love|show|"
    r"turn|post|make|speak|own|touch|grow|eat|drink|hit|say|think)\s+"
    r"(?:(?:me|us|them|him|her|it)\s+)?(?:(?:your|ur|some)\s+(?:[^\W\d_]+\s+)?[^\W\d_]{3,}|"
    r"(?:an?|the|that|this|it|up|your)\s+(?:own\s+)?(?:life|break|pill|point|facts?|shot|chance|hint|joke|look|try|time|rest|hobby|shower|nap|"
    r"grip|hell|job|room|article|book|link|news|post|thread|title|comment|beer|drink|minute|second|day|way|walk|clue|up|down|off|out))\s+$",
    re.IGNORECASE,
)
# What «man» makes a compound with, or is said with.
TRADES = english.words("before_man")
# «hate to hear this bro but …»
HEARD = re.compile(
    r"\b(?:hear|hate|love|see|say|ask|stop|like|know|said|need|want|do|did|does|try|watch|read|believe|got|for|about|of)\s+(?:this|that)\s+$",
    re.IGNORECASE,
)
# «… get it guys …»: a tag, with whom it is said to.
TAGGED = re.compile(
    r"\b(?:get it|got it|get me|you know|ya know|know what i mean|see what i mean|"
    r"believe me|trust me|hear me out|my bad|no offen[cs]e)\s+$",
    re.IGNORECASE,
)
BUT = re.compile(r"\s*,?\s+(?:but|and\s+i|so\s+i|i|im|it|its|you|youre)\b", re.IGNORECASE)
NO_CLAUSE = re.compile(r"\s+(?:who|that|from|with|in|of|like|are|is|was|were|have|has)\b", re.IGNORECASE)
GOES_ON = re.compile(r"\s+(?:and|but|because|cause|cuz|before|or)\s", re.IGNORECASE)
NEGATED = re.compile(r"\bno\s+$", re.IGNORECASE)
DETERMINERS = frozenset(
    ("a", "an", "the", "this", "that", "my", "your", "his", "her", "our", "their", "these", "those", "of", "and", "or")
)
LAST = re.compile(r"([^\W\d_]+)\s+$")


def is_called(word: str, before: str, after: str) -> bool:
    """Whether a noun between these parts of a sentence is whom it is said to."""
    last = LAST.search(before, before.rstrip().rfind(" ") + 1)
    word_before = last[1].lower() if last is not None else ""
    closed = CLOSES.match(after) is not None
    if (
        (not word_before or word_before not in DETERMINERS)
        and GREETED.search(before)
        and (closed or BEGINS_CLAUSE.match(after) or (NEW_CLAUSE.match(after) and not NEGATED.search(before)))
    ):
        return True
    if TAGGED.search(before) and (closed or NO_CLAUSE.match(after) is None):
        return True
    if word in BROTHERS and HEARD.search(before) and (closed or BUT.match(after)):
        return True
    if last is not None and (closed or GOES_ON.match(after)) and word_before not in TRADES and COMMAND.search(before):
        return not DESCRIBING.fullmatch(last[1]) and not people.is_person_noun(last[1])
    if word not in MANY or (word_before in pronouns.CLOSED and LINKED.search(before) is None):
        return False
    if OPENS.search(before):
        return BEGINS_CLAUSE.match(after) is not None or _is_commanded(after)
    if STRONG.match(after) and (LINKED.search(before) or not _describes(last)):
        return True
    had = HAS_OBJECT.search(before)
    return had is not None and NEW_CLAUSE.match(after) is not None and not _describes(had)


def is_heard(before: str, after: str) -> bool:
    """Whether «this» before a noun is what is heard or seen by itself, and the noun is whom that is said to («see this bro?»)."""
    return HEARD.search(before) is not None and (CLOSES.match(after) is not None or GOES_ON.match(after) is not None)


def _describes(last: re.Match[str] | None) -> bool:
    """Whether a word before a plural may say which people are meant («white guys», but not «peace guys»)."""
    return last is not None and DESCRIBING.fullmatch(last[1]) is not None


def _is_commanded(after: str) -> bool:
    """Whether a comma and a command follow («boys , form a line»), and no list."""
    match = COMMANDED.match(after)
    return match is not None and match[1].lower() not in pronouns.CLOSED and "," not in after[match.end() :]
