"""Reads and fills prompts: a YAML template and a JSON schema each.

A template has name, version, about (what the paper asks there), slots (what else the user's message
holds beside the sentence), system (the instruction) and examples (slots and answer). Nothing is
ever put into the instruction. The text asked about goes into the user's message alone, as a value
of a JSON object. Text cannot forge the end of a string, since every quotation mark and backslash in
it is escaped. `encoded` lists what else is escaped.
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
# Control tokens of chat templates begin with one of these: <|im_end|>, <s>, [INST]. Some servers
# also read them inside a text.
CONTROL_OPENERS = "<["
# Control and format characters (zero width, writing direction), halves of pairs, private use, line
# and paragraph ends.
UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))

Slot = str | Sequence[str]


class PromptError(ValueError):
    """An unknown prompt, a file that is no prompt, or slots that do not fit the prompt."""


def json_digest(data: Any) -> bytes:
    """SHA-256 (32 bytes) of JSON data, the same for any order of its keys."""
    # ASCII, so that a lone surrogate has a digest too
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("ascii")).digest()


@dataclass(frozen=True)
class Prompt:
    """A template with the schema of its answers.

    Attributes:
        about: What the paper asks there.
        digest: SHA-256 (64 hexadecimal digits) of template, schema, examples and encoding. It
            changes whenever an answer might.
        slots: What `messages` needs beside the sentence.
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
        """The chat to send: the instruction, the examples, and the sentence with its slots.

        Args:
            slots: The other slots by name.

        Raises:
            PromptError: A slot is missing or unknown.
        """
        return list(self.chat(self._content({**slots, SENTENCE: sentence})))

    def chat(self, content: str) -> tuple[dict[str, str], ...]:
        """The chat whose last message has a content that `messages` made."""
        return (*map(dict, self._fixed), {"role": "user", "content": content})

    @cached_property
    def _fixed(self) -> tuple[Mapping[str, str], ...]:
        """All messages except the last."""
        chat = [{"role": "system", "content": self.system}]
        for given, answer in self.examples:
            chat.append({"role": "user", "content": self._content(given)})
            chat.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
        return tuple(chat)

    def _content(self, given: Mapping[str, Slot]) -> str:
        """The content of a user message; raises PromptError for a missing or unknown slot."""
        wanted = (SENTENCE, *self.slots)
        if set(given) != set(wanted):
            raise PromptError(
                f"prompt {self.name}: the slots {', '.join(wanted)} were expected, not"
                f" {', '.join(given)}"
            )
        return encoded({name: given[name] for name in wanted})


def encoded(values: Mapping[str, Slot]) -> str:
    """Values as one JSON object on one line.

    No character in it can end the data or hide in it. Letters of every script stay as they are.
    Beside what JSON demands, the openers of control tokens and invisible characters are escaped.
    Decoding gives the exact values back.
    """
    return (
        "{" + ", ".join(f"{_string(name)}: {_value(value)}" for name, value in values.items()) + "}"
    )


def _value(value: Slot) -> str:
    """A text or list as JSON."""
    return _string(value) if isinstance(value, str) else "[" + ", ".join(map(_string, value)) + "]"


def _string(text: str) -> str:
    """A text as JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return (
        "".join(_escape(each) if _is_escaped(each) else each for each in quoted)
        if _is_odd(quoted)
        else quoted
    )


def _is_odd(text: str) -> bool:
    """Whether a text may have characters to escape; a fast check."""
    return not text.isascii() or any(opener in text for opener in CONTROL_OPENERS) or "\x7f" in text


def _is_escaped(character: str) -> bool:
    """Whether a character is escaped beyond what JSON demands."""
    return character in CONTROL_OPENERS or unicodedata.category(character) in UNSEEN


def _escape(character: str) -> str:
    """A character as JSON escapes of its UTF-16 units."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2)
    )


def names() -> tuple[str, ...]:
    """The names of the shipped prompts, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def load(name: str) -> Prompt:
    """A shipped prompt.

    Raises:
        PromptError: No prompt has this name.
    """
    if name not in names():
        raise PromptError(
            f"prompt {name!r}: there is none of that name; there are {', '.join(names())}"
        )
    return read(FOLDER / f"{name}.yaml")


def read(path: Path) -> Prompt:
    """Reads a template and the schema beside it (NAME.schema.json)."""
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
    try:
        examples = tuple((each["slots"], each["answer"]) for each in template["examples"])
    except (TypeError, KeyError) as error:
        raise PromptError(f"{path}: examples: a list of slots and answer was expected") from error
    prompt = Prompt(
        name=template["name"],
        version=template["version"],
        about=template["about"],
        digest=json_digest([ENCODING, template, schema]).hex(),
        schema=schema,
        slots=tuple(template["slots"]),
        system=template["system"],
        examples=examples,
    )
    # This finds examples whose slots do not fit
    prompt.messages("", **dict.fromkeys(prompt.slots, ""))
    return prompt
