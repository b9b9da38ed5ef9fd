"""Reads JSON from a model's text and checks it against the schema.

The check is made whether the server enforced the schema or the prompt asked for it in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from evenflow.transforms.llm.client.http import (
    EMPTY,
    NOT_JSON,
    OFF_SCHEMA,
    TRUNCATED,
    Completion,
    RequestError,
)

T = TypeVar("T")

# Reasoning that some models write before their answer without being asked.
THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
ASKED = (
    "Reply with a single JSON object and nothing before or after it. It has to be valid under this"
    " JSON schema:\n{schema}"
)


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """A validator of answers under a schema."""
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        raise ValueError(f"not a JSON schema: {error.message}") from error
    return Draft202012Validator(dict(schema))


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a request that makes a server enforce a schema.

    `name`: The schema's name; other characters than letters, digits, _ and - are replaced.
    """
    named = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": named, "schema": schema, "strict": True},
        }
    }


def with_schema(
    messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]
) -> list[dict[str, str]]:
    """The messages with the schema in the system message, for a server that enforces none."""
    request = ASKED.replace("{schema}", json.dumps(schema, ensure_ascii=False))
    copied = [dict(each) for each in messages]
    if copied and copied[0].get("role") == "system":
        return [copied[0] | {"content": f"{copied[0]['content']}\n\n{request}"}, *copied[1:]]
    return [{"role": "system", "content": request}, *copied]


def parse_answer(completion: Completion, checked: Draft202012Validator) -> dict[str, Any]:
    """The object that a model answered."""
    if completion.is_cut:
        raise RequestError(TRUNCATED, "the answer reached max_tokens")
    text = THOUGHTS.sub("", completion.text).strip()
    if not text:
        raise RequestError(EMPTY, "the answer has no text")
    found = _object(text)
    wrong = next(iter(checked.iter_errors(found)), None)
    if wrong is not None:
        # The message shows neither the answer nor text from it
        place = "/".join(map(str, wrong.absolute_path)) or "the whole"
        raise RequestError(OFF_SCHEMA, f"{place}: {wrong.validator} does not hold")
    return found


def _object(text: str) -> dict[str, Any]:
    """The one object in a text: all of it, or with words or a code fence around it.

    Two objects count as none, since nothing shows which one is the answer and which one is quoted.
    """
    try:
        found = _checked(_decoder().decode, text)
    except ValueError:
        found = _embedded(text)
    if not isinstance(found, dict):
        raise RequestError(NOT_JSON, "no JSON object in the answer")
    return found


def _embedded(text: str) -> Any:
    """The only object within a text, or None."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, end = _checked(_decoder().raw_decode, text[start:])
    except ValueError:
        return None
    return None if "{" in text[start + end :] else found


def _checked(decode: Callable[[str], T], text: str) -> T:
    """What a decoder finds in a text; raises ValueError for lone surrogates and deep nesting."""
    try:
        found = decode(text)
        json.dumps(found, ensure_ascii=False).encode("utf-8")  # fails for lone surrogates
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return found


def _decoder() -> json.JSONDecoder:
    """A decoder that refuses repeated keys and NaN.

    Control characters within a string are accepted, since vLLM's grammars let a model write them.
    """
    return json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, strict=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises ValueError if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    """Raises ValueError: NaN and Infinity are not JSON."""
    raise ValueError(f"{name} is not JSON")
