"""Sentences that are known to lean to a group: do vectors put them on the right side?"""

from __future__ import annotations

from evenflow.transforms.measures.bias_score.score import BiasScorer

LEAST = 0.9  # share of the sentences that must lean to their side before a pane is blocked
# By attribute: what a person would take for a woman's or a man's, most without a word for either
LEANING = {
    "gender": (
        ("The bridesmaids chose lace dresses", "female"),
        ("A nanny pushes the stroller through the park", "female"),
        ("Lipstick and nail polish lay on the table", "female"),
        ("The ballet dancer wore a tutu", "female"),
        ("A midwife visited the maternity ward", "female"),
        ("Her mother knitted a scarf", "female"),
        ("The quarterback threw the ball", "male"),
        ("Lumberjacks felled the old oak", "male"),
        ("A mechanic repaired the engine of the truck", "male"),
        ("The carpenter shaved his beard", "male"),
        ("Soldiers fired the cannon", "male"),
        ("The boxer knocked out his opponent", "male"),
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
