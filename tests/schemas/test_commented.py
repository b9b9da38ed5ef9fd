"""Settings as commented YAML."""

import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from evenflow.schemas.commented import commented


class Inner(BaseModel):
    """A section."""

    text: str | None = Field(default=None, description="A text of any kind. " * 6)
    rate: float = Field(default=1e-07, description="A rate.")


class Root(BaseModel):
    """Settings with sections."""

    named: dict[str, Inner] = Field(default={"a": Inner(), "b": Inner()}, description="Sections.")
    shares: dict[str, float] = {"x": 0.5}
    nothing: dict[str, float] = {}
    words: list[str] = ["no", "1"]


def test_the_form() -> None:
    said = "A text of any kind. A text of any kind. A text of any kind. A text of any"
    rest = "kind. A text of any kind. A text of any kind."
    assert commented(Root()) == (
        "# Sections.\nnamed:\n"
        f"  a:\n    # {said}\n    # {rest}\n    text: null\n    # A rate.\n    rate: 1.0e-07\n"
        "  b:\n    text: null\n    rate: 1.0e-07\n"
        "shares:\n  x: 0.5\nnothing: {}\nwords: ['no', '1']\n"
    )


ANY = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@given(
    st.dictionaries(
        ANY, st.builds(Inner, text=st.none() | ANY, rate=st.floats(allow_nan=False)), max_size=3
    )
)
def test_it_loads_back_whatever_it_holds(named: dict[str, Inner]) -> None:
    root = Root(named=named, words=[*named])
    assert Root.model_validate(yaml.safe_load(commented(root))) == root
