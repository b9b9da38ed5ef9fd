"""What a language model says of sentences, in the words of the prompts' schemas."""

from __future__ import annotations

from typing import Any


def stereotype(label: Any, said: Any, found: bool = True) -> dict[str, Any]:
    """A sentence that says something of a group, and whether that is a stereotype."""
    value = {"mentions_group": True, "label": label, "belief": found, "said": said, "trait": True}
    return value | {"stereotype": found}


def indicators(label: Any, information: Any) -> dict[str, Any]:
    """What the indicators of a stereotype of a kind of people are."""
    value = {"has_label": True, "label": label, "target": "generic", "connotation": "negative"}
    value |= {"grammar": "noun", "form": "generic", "information": information}
    more = {"situation": "characteristic", "sentiment": "negative", "generalisation": "abstract"}
    return value | more
