"""A question about a substitution."""

from evenflow.prompts import loader
from evenflow.transforms.llm.questions import Question


def about(original: str, changed: str, digest: str = "d") -> Question:
    prompt = loader.load("substitution")
    return Question(
        prompt.name,
        digest,
        tuple(prompt.messages(changed, original=original)),
        prompt.schema,
        changed,
    )
