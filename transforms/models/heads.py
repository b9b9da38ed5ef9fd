"""The heads of the encoder, and where the value of each stands in a row.

Behind these columns stands one for each class of each choice: how a sentence is said (`STANCE`),
and the linguistic indicators.
"""

from __future__ import annotations

# Why an exchange is wrong: the guideline's names (tests/data/document_guideline.md), with the
# words of a report
REASONS = {
    "named": "a person with a name is meant",
    "event": "a real event, work, organisation or place is meant",
    "untrue": "what is said does not hold of the other group",
    "sense": "the word has another sense here",
    "law": "law, doctrine or custom is about this group",
    "biology": "it is about the body",
    "idiom": "it is a fixed phrase, a call or an exclamation",
    "compared": "the groups are compared",
    "elsewhere": "the word is bound to something outside of the passage",
    "half": "only a part of what hangs together would change",
    "form": "the form does not fit the sentence",
}
# The columns before these are of heads that nothing reads: exchanges, their reasons, stereotypes.
# Whether people associate this with the group, also where a single person is meant
ASSOCIATION = len(REASONS) + 2
STRENGTH = ASSOCIATION + 1
STANCE = "stance"
