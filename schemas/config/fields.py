"""Section `fields`: the names and types of the input's fields."""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from evenflow.schemas.config.sections import Section
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.messages import Problem, refuse, shown

KafkaColumn = Literal["key", "headers", "time"]
PARTS = "_text"  # column of a document's parts, joined
# A path of more than a name; anything else is a field's name
PATH = re.compile(r"[^.\[\]]+(\[([^=\[\]]+=[^\[\]]+)?\]|\.[^.\[\]]+)+")
PLAIN_COLUMNS = ("text", "int", "float", "bool")  # types of columns; a list or mapping is of these


def _columns(given: Any) -> Any:
    """Read columns with types: a plain one, json, [TYPE] for lists, {KEY: TYPE} for objects."""
    if given is None:
        return None
    found: list[Problem] = []

    def look(value: Any, *place: str, top: bool = False) -> None:
        if is_mapping(value) and value:
            for key, each in value.items():
                look(each, *place, str(key))
        elif is_list(value) and len(value) == 1:
            look(value[0], *place)
        elif not (isinstance(value, str) and value in (*PLAIN_COLUMNS, *["json"] * top)):
            text = (
                f"{', '.join(PLAIN_COLUMNS)}, json, [TYPE] or {{KEY: TYPE}} was expected, not"
                f" {shown(value)}"
            )
            found.append(Problem(place, text))

    if not is_mapping(given):
        refuse([Problem((), f"columns with their types were expected, not {shown(given)}")])
    for name, value in given.items():
        look(value, str(name), top=True)
    refuse(found)
    return given


def _paths(given: Any) -> Any:
    """Read the field of the text, or paths to its parts; an option gives a list as [A, B]."""
    if isinstance(given, str) and given[:1] == "[" and given[-1:] == "]":
        given = [each.strip() for each in given[1:-1].split(",")]
    for each in given if is_list(given) and given else [given]:
        if not isinstance(each, str) or not each:
            refuse([Problem((), f"text that is not empty was expected, not {shown(each)}")])
    return given


with warnings.catch_warnings():  # `schema` hides a method of pydantic that nothing calls any more
    warnings.filterwarnings("ignore", 'Field name "schema"')

    class Fields(Section):
        """Section `fields`."""

        text: Annotated[str | list[str], BeforeValidator(_paths)] = Field(
            default="text",
            description=(
                "Field that holds a document's text; or a path to it, or a list of paths whose"
                " texts are its parts, such as data.body, [instruction, output],"
                " messages[].content, conversations[from=gpt].value,"
                " messages[role=user|assistant].content."
            ),
        )
        id: str = Field(
            default="id",
            min_length=1,
            description=(
                "Field that holds a document's id. A document without it gets an id from its file"
                " and its number in that file."
            ),
        )
        kafka: list[KafkaColumn] = Field(
            default_factory=list[KafkaColumn],
            exclude_if=lambda names: not names,
            description=(
                "What of a topic's records the shards have as columns too: key (kafka_key),"
                " headers (kafka_headers), time (kafka_time)."
            ),
        )
        schema: Annotated[dict[str, Any] | None, BeforeValidator(_columns)] = Field(  # pyright: ignore
            default=None,
            description=(
                "Columns of the shards for the other fields, with their types: text, int, float,"
                " bool, json (JSON text), [TYPE] for a list, {KEY: TYPE} for an object; such as"
                " {url: text, tags: [text]}. What fits none of them is JSON text in the column"
                " _extra. null: they are decided from a sample of the input at the start."
            ),
        )

        @model_validator(mode="after")
        def _differ(self) -> Fields:
            """Refuse one field as both text and id."""
            for path in [self.text] if isinstance(self.text, str) else self.text:
                if path == self.id:
                    refuse([Problem(("text",), f"{path!r} is fields.id, too; name the text's")])
            return self

        @property
        def paths(self) -> list[str] | None:
            """The paths to a document's parts; None where its text is a field."""
            if isinstance(self.text, list):
                return self.text
            return [self.text] if PATH.fullmatch(self.text) else None

        @property
        def column(self) -> str:
            """The column of the text in shards: the field's name; of parts, one of its own."""
            return self.text if isinstance(self.text, str) and self.paths is None else PARTS
