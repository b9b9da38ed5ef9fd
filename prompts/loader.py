"""Reads the prompts: a YAML template and a JSON schema each, and fills them so that text stays
data.

A template has name, version, about (what the paper asks there), slots (what else the user's message
holds beside the sentence), system (the instruction) and examples (slots and answer). Nothing is
ever put into the instruction. The text asked about goes into the user's message alone, as a value
of a JSON object: a string's end cannot be forged, since every quotation mark and backslash in it is
escaped. See `encoded` for what else is.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
SCHEMA = ".schema.json"
KEYS = frozenset(("name", "version", "about", "slots", "system", "examples"))
SENTENCE = "sentence"  # the slot that every prompt has
ENCODING = 1  # raised whenever `encoded` changes, since answers may change with it
# Chat templates' control tokens begin with one of these: <|im_end|>, <s>, [INST]. Some servers read
# them inside a text too.
CONTROL_OPENERS = "<["
# Control and format characters (zero width, writing direction), halves of pairs, private use, line
# and paragraph ends.
UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))

Slot = str | Sequence[str]


class PromptError(ValueError):
    """A prompt that there is none of, a file that cannot be read as one, or slots that do not fit
    it.
    """


@dataclass(frozen=True)
class Prompt:
    """A template with its answers' schema.

    digest: SHA-256 (64 hexadecimal digits) of template, schema, examples and encoding; it changes
    whenever an answer might. slots: what `messages` needs beside the sentence.
    """

    name: str
    version: int
    about: str
    digest: str
    schema: Mapping[str, Any]
    slots: tuple[str, ...]
    system: str
    examples: tuple[tuple[Mapping[str, Slot], Mapping[str, Any]], ...]

    def messages(self, sentence: str, **slots: Slot) -> list[dict[str, str]]:
        """The chat to send: role and content of the instruction, the examples and, last, the
        sentence with its slots.

        Raises PromptError for a slot that is missing or unknown.
        """
        return list(self.chat(self._content({**slots, SENTENCE: sentence})))

    def chat(self, content: str) -> tuple[dict[str, str], ...]:
        """The chat whose last message is a content that `messages` made."""
        return (*map(dict, self._fixed), {"role": "user", "content": content})

    @cached_property
    def _fixed(self) -> tuple[Mapping[str, str], ...]:
        """All but the last message."""
        chat = [{"role": "system", "content": self.system}]
        for given, answer in self.examples:
            chat.append({"role": "user", "content": self._content(given)})
            chat.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
        return tuple(chat)

    def _content(self, given: Mapping[str, Slot]) -> str:
        wanted = (SENTENCE, *self.slots)
        if set(given) != set(wanted):
            raise PromptError(
                f"prompt {self.name}: the slots {', '.join(wanted)} were expected, not"
                f" {', '.join(given)}"
            )
        return encoded({name: given[name] for name in wanted})


def encoded(values: Mapping[str, Slot]) -> str:
    """Values as one JSON object in one line, without any character that could end the data or hide
    in it.

    Letters stay as they are, of every script. Escaped are, beside what JSON demands: the openers of
    control tokens, and what no reader sees. Decoding gives exactly the values back.
    """
    return (
        "{" + ", ".join(f"{_string(name)}: {_value(value)}" for name, value in values.items()) + "}"
    )


def _value(value: Slot) -> str:
    return _string(value) if isinstance(value, str) else "[" + ", ".join(map(_string, value)) + "]"


def _string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return (
        "".join(_escape(each) if _is_escaped(each) else each for each in quoted)
        if _is_odd(quoted)
        else quoted
    )


def _is_odd(text: str) -> bool:
    return not text.isascii() or any(opener in text for opener in CONTROL_OPENERS) or "\x7f" in text


def _is_escaped(character: str) -> bool:
    return character in CONTROL_OPENERS or unicodedata.category(character) in UNSEEN


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2)
    )


def names() -> tuple[str, ...]:
    """The shipped prompts, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def load(name: str) -> Prompt:
    """A shipped prompt. Raises PromptError for a name that there is none of."""
    if name not in names():
        raise PromptError(
            f"prompt {name!r}: there is none of that name; there are {', '.join(names())}"
        )
    return read(FOLDER / f"{name}.yaml")


def read(path: Path) -> Prompt:
    """The prompt of a template with the schema beside it (NAME.schema.json).

    Raises PromptError with the file and what is wrong with it.
    """
    schema_path = path.with_name(path.stem + SCHEMA)
    try:
        template = yaml.safe_load(path.read_text(encoding="utf-8"))
        schema = json.loads(schema_path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PromptError(f"{error.filename}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise PromptError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValueError as error:
        raise PromptError(f"{path} or {schema_path}: not UTF-8 or not JSON: {error}") from error
    if not isinstance(template, dict) or set(template) != KEYS:
        raise PromptError(f"{path}: the keys {', '.join(sorted(KEYS))} were expected")
    if template["name"] != path.stem or not isinstance(template["version"], int):
        raise PromptError(
            f"{path}: name {template['name']!r} and version {template['version']!r}: the file's and"
            " a number"
        )
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise PromptError(f"{schema_path}: the schema of an object was expected")
    decided = json.dumps([ENCODING, template, schema], sort_keys=True, ensure_ascii=True)
    try:
        examples = tuple((each["slots"], each["answer"]) for each in template["examples"])
    except (TypeError, KeyError) as error:
        raise PromptError(f"{path}: examples: a list of slots and answer was expected") from error
    prompt = Prompt(
        name=template["name"],
        version=template["version"],
        about=template["about"],
        digest=hashlib.sha256(decided.encode("ascii")).hexdigest(),
        schema=schema,
        slots=tuple(template["slots"]),
        system=template["system"],
        examples=examples,
    )
    # Examples whose slots do not fit are found here
    prompt.messages("", **dict.fromkeys(prompt.slots, ""))
    return prompt
