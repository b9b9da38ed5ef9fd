"""Links: text -> the links in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.text.links import find_links


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("see https://example.org/a?b=c#d, then", ["https://example.org/a?b=c#d,"]),
        ("https://en.example/wiki/Queen_(band)", ["https://en.example/wiki/Queen_(band)"]),
        ("(ftp://x)", ["ftp://x)"]),
        ("http:// nothing", []),
        ("://x", []),
        ("<http://x.org/a>b", ["http://x.org/a"]),
        ('"http://x.org" “http://y.org”', ["http://x.org", "http://y.org"]),
        ("http://x.org/http://y.org", ["http://x.org/http://y.org"]),
        ("http://a\u00a0b\nhttp://c", ["http://a", "http://c"]),
        ("www.x.org www. awww.x WWW.x.org", ["www.x.org"]),
        ("a.b+c%d@e-f.g.org.", ["a.b+c%d@e-f.g.org"]),
        ("mailto:a@b.org", ["a@b.org"]),
        ("a@b and a@ b.org @ c", []),
        ("@a @b_c, (@d) @é.f", ["@a", "@b_c", "@d", "@é"]),
        ("a@@b", ["@b"]),
        (".@a", ["@a"]),
        ("@a@b.org", ["@a"]),
        ("#a http:/b a:b //c", []),
        ("x" * 70 + "@y.org", ["x" * 64 + "@y.org"]),
    ],
)
def test_links_of_a_text(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in find_links(text)] == expected


@given(
    st.lists(st.sampled_from(["a", "@", "://", "www.", ".", " ", "_", "-", "é", "\ud800"])).map(
        "".join
    )
)
def test_links_are_apart_and_without_blanks(text: str) -> None:
    found = find_links(text)
    assert all(start < end <= len(text) and " " not in text[start:end] for start, end in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))
