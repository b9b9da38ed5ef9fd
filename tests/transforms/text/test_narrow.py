"""Tests of evenflow.transforms.text.narrow."""

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.text.narrow import FILL, narrow


@given(st.text(st.characters(), max_size=40))
def test_a_text_is_put_together_again(text: str) -> None:
    read = narrow(text)
    characters = list(read.raw.decode("ascii"))
    assert all(read.raw[place] == FILL for place in read.places)
    for place, point in zip(read.places.tolist(), read.points.tolist(), strict=True):
        characters[place] = chr(point)
    assert "".join(characters) == text
