"""The pictures of README and docs are of the demo, which README prints."""

from __future__ import annotations

import base64

from pictures import CORPUS, PICTURES, WORDS, labelled, metadata
from places import ROOT

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def test_pictures_are_of_the_run_that_readme_prints() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    found = {name: metadata(ROOT / "docs" / name) for name in PICTURES}
    [comment] = {each["Comment"] for each in found.values()}
    assert f"\n{comment.partition('; ')[0]}\n" in readme
    assert len({each["Source"] for each in found.values()}) == 1
    words = {metadata(ROOT / "docs" / name)["Comment"] for name in WORDS}
    assert words == {f"words of {CORPUS.name}"}


def test_texts_of_a_picture(tmp_path) -> None:
    (tmp_path / "dot.png").write_bytes(labelled(DOT, {"Source": "a run", "Comment": "2 panes"}))
    assert metadata(tmp_path / "dot.png") == {"Source": "a run", "Comment": "2 panes"}
    assert metadata(tmp_path / "none.png") == {}
