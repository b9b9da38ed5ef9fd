"""Section `fields`: the names and types of the input's fields."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from evenflow.schemas.config.section import Section
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.messages import Problem, refuse, shown

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


with warnings.catch_warnings():  # `schema` hides a method of pydantic that nothing calls any more
    warnings.filterwarnings("ignore", 'Field name "schema"')

    class Fields(Section):
        """Section `fields`."""

        text: str = Field(
            default="text", min_length=1, description="Field that holds a document's text."
        )
        id: str = Field(
            default="id",
            min_length=1,
            description=(
                "Field that holds a document's id. A document without it gets an id from its file"
                " and its number in that file."
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
