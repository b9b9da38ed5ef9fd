"""Two of one sex: «sleeping with another man is a sin». That they are is the point of the statement, so that neither changes.

Where somebody of the other sex is told of, «another» is only somebody else («his wife slept with another man»).
"""

from __future__ import annotations

import re

WITH_ANOTHER = re.compile(
    r"\b(?:(?:sleep\w*|slept|lie|lies|lay|lain|lying|sex|relations|intercourse|affair|relationship|in love)\s+(?:down\s+)?with|"
    r"kiss\w*|marr(?:y|ies|ied|ying)|fuck\w*|dat(?:e|es|ed|ing))\s+(?:another|other|(?:a\s+)?fellow)\s+$",
    re.IGNORECASE,
)
MALE = frozenset(("man", "men", "guy", "guys", "boy", "boys", "dude", "dudes", "male", "males"))
FEMALE = frozenset(("woman", "women", "girl", "girls", "lady", "ladies", "chick", "chicks", "female", "females"))
PEOPLE = MALE | FEMALE
# Words of which one tells that the first of the two may be a woman, and a man.
OF_WOMAN = FEMALE | frozenset(
    (*("she", "her", "shes", "wife", "wives", "girlfriend"),
     *("girlfriends", "fiancee", "bride", "mom", "mother", "ex"))
)  # fmt: skip
OF_MAN = MALE | frozenset(
    (*("he", "his", "him", "hes", "husband", "husbands", "boyfriend"),
     *("boyfriends", "fiance", "groom", "dad", "father", "ex"))
)  # fmt: skip
OF_ANYBODY = frozenset(("i", "im", "my", "me", "you", "your", "partner", "spouse", "someone", "somebody", "they"))


def is_pair(word: str, before: str, words: frozenset[str]) -> bool:
    """Whether a noun is the second of two of one sex.

    before: what stands before it in its sentence. words: of the sentence.
    """
    if "another" not in words and "other" not in words and "fellow" not in words:
        return False
    others = OF_WOMAN if word in MALE else OF_MAN
    return WITH_ANOTHER.search(before) is not None and words.isdisjoint(others) and words.isdisjoint(OF_ANYBODY)
