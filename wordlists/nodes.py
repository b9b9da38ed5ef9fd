"""Reads YAML as nodes that know their lines, for messages that name them.

Tags construct nothing, and aliases are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

MAX_BYTES = 8 << 20  # of a word list: some hundred thousand labels, read in seconds
DEEPEST = 5  # nested levels: a word list has four (list, groups, labels, a label's options)
TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")  # of a scalar that is text; None: in quotes
STRING = "tag:yaml.org,2002:str"
MARK = "\ufeff"  # the byte-order mark, which no editor shows


class Plain:
    """Reads a scalar without quotes as text where YAML 1.1 finds what its writer hardly means.

    These are 1:30 (90, in base 60), 010 (8, in base 8), and .nan. A key that wants a number then
    says that it is none.
    """

    _TEXT = re.compile(r"[-+]?\d+:[\d:.]+|[-+]?0[0-9_]+|\.(nan|NaN|NAN)")

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """The tag of a node, as yaml.resolver.Resolver finds it."""
        if kind is yaml.ScalarNode and implicit[0] and self._TEXT.fullmatch(value):
            return STRING
        resolver: Any = super()
        return resolver.resolve(kind, value, implicit)


class Resolver(Plain, yaml.resolver.Resolver):
    """The tags of scalars, without a parser."""


# The C parser if PyYAML has it: it reads a list of 20,000 labels in 50 ms, not 2 s.
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class PARSER(Plain, _FASTEST):
    """Reads a whole document."""


@dataclass(frozen=True)
class Defect:
    """A defect of a list.

    Attributes:
        line: Line in the file, from 1; 0 for the whole file.
    """

    line: int
    label: str
    what: str


@dataclass
class Node:
    """A node of a YAML file."""

    kind: Literal["text", "other", "sequence", "mapping"]
    line: int
    text: str = ""
    items: list[Node] = field(default_factory=list)

    @property
    def entries(self) -> list[tuple[Node, Node]]:
        """A mapping's keys with their values."""
        return list(zip(self.items[::2], self.items[1::2], strict=True))


def read(path: Path) -> tuple[Node | None, list[Defect]]:
    """Reads a YAML file."""
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        return None, [Defect(0, "file", f"larger than {MAX_BYTES >> 20} MiB; that is no word list")]
    text = decoded(raw)
    if isinstance(text, Defect):
        return None, [text]
    strange = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if strange:
        line = text.count("\n", 0, strange.start()) + 1
        return None, [
            Defect(line, "file", f"not YAML: character U+{ord(strange.group()):04X} is not allowed")
        ]
    try:
        return _build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return None, [
            Defect(
                mark.line + 1 if mark else 0, "file", f"not YAML: {error.problem or error.context}"
            )
        ]
    except (ValueError, OverflowError) as error:  # the parser in Python on an escape beyond Unicode
        return None, [Defect(0, "file", f"not YAML: {error}")]


def decoded(raw: bytes) -> str | Defect:
    """The text of a file, without the byte-order mark that it may begin with.

    Args:
        raw: Its bytes.

    Returns:
        The text, or why there is none.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
        return Defect(line, "file", what)
    if MARK in text:
        line = text.count("\n", 0, text.index(MARK)) + 1
        return Defect(line, "file", "a byte-order mark (U+FEFF) within the text; remove it")
    return text


def _build(text: str) -> tuple[Node | None, list[Defect]]:
    """Nodes from the parser's events, one by one.

    So neither nesting nor aliases cost more than their text.
    """
    resolver = Resolver()
    defects: list[Defect] = []
    top = Node("sequence", 1)  # of the documents
    stack = [top]
    for event in yaml.parse(text, Loader=PARSER):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and top.items:
            defects.append(Defect(line, "---", "a second document; a word list is one"))
            break
        elif isinstance(event, yaml.AliasEvent):
            defects.append(
                Defect(
                    line,
                    f"*{event.anchor}",
                    "aliases are not used in word lists; write the labels out",
                )
            )
            stack[-1].items.append(Node("other", line))
        elif isinstance(event, yaml.ScalarEvent):
            plain = event.tag is None and event.implicit[0]
            tag = (
                resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
                if plain
                else event.tag
            )
            stack[-1].items.append(Node("text" if tag in TEXT_TAGS else "other", line, event.value))
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > DEEPEST:
                defects.append(Defect(line, "file", f"nested more than {DEEPEST} deep"))
                break
            node = Node(
                "sequence" if isinstance(event, yaml.SequenceStartEvent) else "mapping", line
            )
            stack[-1].items.append(node)
            stack.append(node)
    if len(stack) > 1:  # stopped within the document: the nodes are not what the file says
        return None, defects
    return (top.items[0] if top.items else None), defects
