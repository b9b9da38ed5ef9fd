"""Messages about mistakes in settings."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evenflow.schemas.messages import Problem, nearest, problems, refuse, shown


class Inner(BaseModel):
    """A section with keys of each kind."""

    model_config = ConfigDict(extra="forbid", strict=True)
    size: int = Field(default=1, ge=1)
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    rate: float = Field(default=0.5, gt=0)
    kind: Literal["one", "two"] = "one"
    name: str = Field(default="x", min_length=1)
    on: bool = True
    shares: dict[str, Annotated[float, Field(ge=0, lt=1)]] = {}

    @model_validator(mode="after")
    def _sound(self) -> "Inner":
        if self.name == "odd":
            refuse([Problem(("name",), "is odd"), Problem((), "and {braces} stay")])
        return self


class Root(BaseModel):
    """Settings with sections."""

    model_config = ConfigDict(extra="forbid", strict=True)
    inner: Inner = Inner()
    named: dict[str, Inner] = {}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"inner": {"size": 0}}, "inner.size: a whole number of 1 or more was expected, not 0"),
        (
            {"inner": {"size": True}},
            "inner.size: a whole number of 1 or more was expected, not true",
        ),
        ({"inner": {"size": 1.0}}, "inner.size: a whole number of 1 or more was expected, not 1.0"),
        (
            {"inner": {"share": 2}},
            "inner.share: a number above 0 and of at most 1, or null, was expected, not 2",
        ),
        ({"inner": {"rate": 0}}, "inner.rate: a number above 0 was expected, not 0"),
        ({"inner": {"kind": 1}}, "inner.kind: one or two was expected, not 1"),
        (
            {"inner": {"name": ""}},
            "inner.name: text that is not empty was expected, not the text ''",
        ),
        ({"inner": {"on": "yes"}}, "inner.on: true or false was expected, not the text 'yes'"),
        (
            {"inner": {"shares": {"a": 1}}},
            "inner.shares.a: a number of at least 0 and below 1 was expected, not 1",
        ),
        ({"inner": {"shares": [1]}}, "inner.shares: a section of keys was expected, not a list"),
        ({"inner": None}, "inner: a section of keys was expected, not nothing (null)"),
        ({"named": {"a": {"sizes": 1}}}, "named.a.sizes: unknown key; did you mean 'size'?"),
        (
            {"named": {"a": {"x": {"size": "much"}}}},
            "named.a.x: unknown key; known here are size, share",
        ),
        ({"size": 1}, "size: unknown key; did you mean inner.size or named.NAME.size?"),
        ({"Inner": 1}, "Inner: unknown key; did you mean 'inner'?"),
        ({"inner": {"name": "odd"}}, "inner.name: is odd\ninner: and {braces} stay"),
    ],
)
def test_what_is_wrong_in_words(data: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as error:
        Root.model_validate(data)
    assert "\n".join(map(str, problems(error.value, Root))).startswith(said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "nothing (null)"),
        (False, "false"),
        ("a'b", 'the text "a\'b"'),
        ("x" * 1000, f"the text '{'x' * 60}…'"),
        (10**100, str(10**100)[:60]),
        ({}, "an empty section"),
        ({"a": 1}, "a section of keys"),
        ([[1]], "a list"),
        (b"a", "binary data"),
        ({1, 2}, "a set"),
    ],
)
def test_a_value_is_named_shortly(value: Any, said: str) -> None:
    assert shown(value) == said


def test_the_nearest_word() -> None:
    assert nearest("ROLLIN", ["docs", "rolling"]) == "rolling"
    assert nearest("Female", ["female", "male"]) == "female"
    assert nearest("zzz", ["female", "male"]) is None
    assert nearest("a", []) is None


def test_no_problem_is_no_refusal() -> None:
    refuse([])
