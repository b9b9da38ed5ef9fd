"""Drafts of word lists for tests."""

from pathlib import Path

from evenflow.transforms.lab.word_lists import draft as drafts
from evenflow.transforms.lab.word_lists.criteria import Weakness
from evenflow.transforms.lab.word_lists.draft import Candidate, Draft

HOSTILE = '<script>alert("x")</script> & "quotes" \u202e'


def draft(words: int = 4) -> Draft:
    """A draft with as many words, by turns of two groups; the first one has hostile texts."""
    return Draft(
        attribute="craft",
        groups=("wood", "metal"),
        source="made for a test",
        licence="CC0",
        documents=100,
        option="A",
        candidates=tuple(
            Candidate(
                word=f"word{number}",
                group=("wood", "metal")[number % 2],
                forms={f"word{number}": 5, f"word{number}s": 2},
                sources=(HOSTILE if number == 0 else "neighbour",),
                order=number + 1,
                examples=(f"A word{number} said {HOSTILE}.",),
                warnings=(Weakness(criterion="Q3", reason=HOSTILE, probability=0.5),),
                counterparts={"metal": "word1"} if number == 0 else {},
            )
            for number in range(words)
        ),
    )


def written(folder: Path, words: int = 4) -> Path:
    """The file of such a draft."""
    path = folder / "draft.json"
    drafts.write(path, draft(words))
    return path
