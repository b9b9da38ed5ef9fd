"""A question about a substitution."""

from evenflow.prompts import loader
from evenflow.transforms.llm.questions import Question


def about(original: str, changed: str, digest: str = "d") -> Question:
    prompt = loader.load("substitution")
    slots = {"attribute": original, "from": "female", "to": "male"}
    messages = tuple(prompt.messages(changed, **slots))
    return Question(prompt.name, digest, messages, prompt.schema, changed)
