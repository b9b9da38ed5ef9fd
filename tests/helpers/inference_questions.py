"""Questions for tests."""

from __future__ import annotations

from typing import Any

from evenflow.transforms.llm.questions import Question

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "is_stereotype": {"type": "boolean"},
        "why": {"type": "string", "maxLength": 20},
    },
    "required": ["is_stereotype", "why"],
    "additionalProperties": False,
}
RIGHT = '{"is_stereotype": true, "why": "so"}'


def question(
    sentence: str,
    digest: str = "d" * 64,
    schema: dict[str, Any] | None = None,
    system: str = "Judge.",
) -> Question:
    """A question about a sentence."""
    messages = ({"role": "system", "content": system}, {"role": "user", "content": sentence})
    return Question("indicators", digest, messages, schema or SCHEMA, sentence)
