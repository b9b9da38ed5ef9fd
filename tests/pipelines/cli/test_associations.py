"""`evenflow measure --associations`: the table, and JSON."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Call

pytest_plugins = ["commands"]


def test_words_that_lean_are_shown(call: Call, tmp_path: Path) -> None:
    texts = ["She is a kind nurse.", "He is a kind pilot.", "The Muslims are kind."] * 100
    corpus = tmp_path / "a.jsonl"
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    shown = call("measure", corpus, "--associations").out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "gender: 2 leanings of 3 words that stand in 10 documents" in shown
    assert "nothing is said of old: 0 sentences of it alone, 100 are needed" in shown
    [line] = [line for line in shown.splitlines() if "nurse" in line]
    assert "female" in line
    printed = call("measure", corpus, "--associations", "-a", "gender", "--json").out
    own = json.loads(printed)["attributes"]["gender"]["associations"]
    assert own["words"]["male"][0]["word"] == "pilot"
    assert own["words"]["male"][0]["leans"]
    assert "associations" not in call("measure", corpus, "--json").out
