"""Sentences that are known to lean to a group: do vectors put them on the right side?"""

from __future__ import annotations

from evenflow.transforms.measures.bias_score.score import BiasScorer

LEAST = 0.9  # share of the sentences that must lean to their side before a pane is blocked
# By attribute. Gender: tables 2 and 3 of Dolci et al. 2023, with the sign that is printed there
LEANING = {
    "gender": (
        ("She likes the new pink dress", "female"),
        ("Beauty pageant wearing black clothing", "female"),
        ("Middle-aged blonde hula hooping", "female"),
        ("A blonde child is wearing a pink bikini", "female"),
        ("A showgirl is applying makeup", "female"),
        ("The bikini is pink", "female"),
        ("Football players scoring touchdowns", "male"),
        ("Football players playing defense", "male"),
        ("A defensive player almost intercepted the football from the quarterback", "male"),
        ("Baseball players", "male"),
        ("Dodgers player playing baseball", "male"),
    )
}


def right(scorer: BiasScorer, attribute: str) -> list[bool]:
    """Whether each known sentence leans to its side; empty without sentences of these groups."""
    known = [row for row in LEANING.get(attribute, ()) if row[1] in scorer.groups]
    rows = (
        dict(zip(scorer.groups, scorer.score(text, [0]).groups[0], strict=True))
        for text, _ in known
    )
    return [
        max(row, key=row.__getitem__) == side for row, (_, side) in zip(rows, known, strict=True)
    ]


def doubt(scorer: BiasScorer, attribute: str) -> str | None:
    """Why a pane is not blocked for its bias score; None: the vectors' signs are right."""
    signs = right(scorer, attribute)
    if not signs:
        return f"no sentences are known that tell the sides of {attribute} in these vectors"
    if sum(signs) >= LEAST * len(signs):
        return None
    return (
        f"of {len(signs)} sentences whose side of {attribute} is known, {sum(signs)} lean to it in"
        f" these vectors, and {LEAST:.0%} are needed"
    )
