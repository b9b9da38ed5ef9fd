"""The counterparts of third-person pronouns: her → his or him, his → her or hers.

“her” and “his” each serve two cases, so the words around them decide which form the counterpart
has: first rules (`pronoun_rules`), then a learnt model (`pronoun_model`).
"""

from __future__ import annotations

from evenflow.transforms.text.pronoun_model import predict
from evenflow.transforms.text.pronoun_rules import precedes_lone_noun, rule_for_her, rule_for_his

RULED = 0.97  # confidence in the answer of a rule
# Probability of “him” below which a noun alone makes it doubtful, and the confidence in “his” then
DOUBTED, TURNED = 0.8, 0.7
# Pronouns with the same counterpart in every context
PLAIN = {
    "she": "he",
    "he": "she",
    "him": "her",
    "hers": "his",
    "herself": "himself",
    "himself": "herself",
    "shes": "hes",  # as comments write “she's”
    "hes": "shes",
    "hed": "shed",  # not the other way: a shed is a hut
}
PRONOUNS = frozenset({*PLAIN, "her", "his"})
FEMALE = frozenset({"she", "her", "hers", "herself", "shes"})


def find_counterpart(text: str, start: int, end: int, word: str | None = None) -> tuple[str, float]:
    """Find the other sex's form of the pronoun text[start:end].

    Args:
        word: The pronoun in lower case, where the text may spell it otherwise (“ſhe”).

    Returns:
        The form in lower case, and the confidence in it (0.5 to 1).

    Raises:
        KeyError: The word is none of `PRONOUNS`.
    """
    word = word or text[start:end].lower()
    if word == "her":
        ruled = rule_for_her(text, start, end)
        forms = ("his", "him")
    elif word == "his":
        ruled = rule_for_his(text, start, end)
        forms = ("her", "hers")
    else:
        return PLAIN[word], 1.0
    if ruled is not None:
        return ruled, RULED
    second = predict(word, text, start, end)
    if word == "her" and second >= 0.5 and precedes_lone_noun(text, start, end, second < DOUBTED):
        return forms[0], TURNED
    return (forms[1], second) if second >= 0.5 else (forms[0], 1 - second)
