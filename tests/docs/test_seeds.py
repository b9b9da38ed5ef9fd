"""Each row of the page on the papers does what it says: its command runs, and prints that.

Models have some kB, and benchmarks are asked 4 items: the part is there, no figure is shown.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import Call
from parts import needs_training
from places import DATA, ROOT
from printed import pattern
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.transforms.lab.word_lists.draft import read
from evenflow.transforms.lab.word_lists.journal import Journal

pytest_plugins = ["commands"]
PAGE = (ROOT / "docs/pages/seeds.md").read_text(encoding="utf-8")
# Command and what it prints
ROWS = re.findall(r"^\| .+? \| `(evenflow [^`]+)` \| (.+?) \| .+? \|$", PAGE, re.M)
TRAINED = re.compile(r"lab benchmark|lab mine \S+ --model|lora\.yaml|masking\.yaml")
PLACES = re.compile(r" --(?:output|finish|write|html) (\S+)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data that the commands name."""
    shutil.copytree(DATA / "seeds", tmp_path, dirs_exist_ok=True)
    shutil.copyfile(DATA / "coverage" / "adult.csv", tmp_path / "people.csv")
    for name in ("plain_texts", "stereotype_everyday"):
        (tmp_path / "corpus").mkdir(exist_ok=True)
        shutil.copy(DATA / f"{name}.jsonl", tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def answer(request: dict[str, Any]) -> Turn:
    """What the language model says: words of a group, or a sentence."""
    asked = json.loads(request["messages"][-1]["content"])
    if "group" in asked:
        words = {"female": ["woman", "sister"], "male": ["man", "brother"]}[asked["group"]]
        return Turn(content=json.dumps({"words": words}))
    # First a sentence that names nobody, which is refused
    who = asked["words"][0] if asked["refused"] else "dogs"
    return Turn(content=json.dumps({"relation": None, "text": f"Two {who} waited at a stop."}))


def printed(call: Call, line: str) -> str:
    """What a row's command prints."""
    words = shlex.split(line)[1:]
    if words[1] == "benchmark":
        words += ["--items", "4"]
    if words[1] == "review":
        own = read(Path(words[2]))
        for who in ("a", "b"):
            for each in own.candidates:
                Journal(own, Path(words[2])).confirm(who, each.word)
    with ScriptedLLM(answer) as server:
        words = [each.replace("URL", server.url) for each in words]
        ended = call(*words, *(["--set", f"llm.model={MODEL}"] if "URL" in line else []))
    assert ended.status in (0, 3), f"{line}: {ended.err}"
    return ended.out + ended.err


def wrong(call: Call, rows: list[tuple[str, str]]) -> list[str]:
    """The words that the page says a command prints or writes, and that it does not."""
    said: dict[str, str] = {}
    found: list[str] = []
    for line, prints in rows:
        said[line] = said.get(line) or printed(call, line)
        for place in map(Path, PLACES.findall(line)):
            files = [each for each in (place, *place.rglob("*.*")) if each.is_file()]
            said[line] += "\n".join(each.read_text("utf-8", "replace") for each in files)
        words = re.findall("`([^`-][^`]*)`", prints)
        found += [f"{line}: {each}" for each in words if not re.search(pattern(each), said[line])]
    return found


def test_every_other_row_says_why_it_has_no_command() -> None:
    rest = [row for row in PAGE.splitlines() if row.startswith("| ") and "| `evenflow" not in row]
    assert len(ROWS) > 20
    assert [row for row in rest if not re.search(r"\| (works|---) \||\| no: .+ \|$", row)] == []


@pytest.mark.parametrize("trained", [False, True])
def test_rows_print_what_the_page_says(call: Call, folder: Path, trained: bool) -> None:
    if trained:
        needs_training("torch", "peft")
        from tiny_models import tiny_model

        for name, kind in (("m", "llama"), ("bert-base-uncased", "bert")):
            tiny_model(folder / name, kind, max_position_embeddings=512)
    assert wrong(call, [row for row in ROWS if bool(TRAINED.search(row[0])) == trained]) == []
