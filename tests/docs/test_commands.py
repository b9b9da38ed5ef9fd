"""Every command in README and docs can be parsed, and those with an output print that output."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from places import DATA, ROOT
from printed import ANY, COMMAND, pattern

import evenflow
from evenflow.pipelines.cli.app import application
from evenflow.pipelines.cli.explain import explain

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("pages/*.md"))]
# Whose commands follow each other: test_tutorial.py, services/test_topic_page.py
RUN_ELSEWHERE = {"tutorial.md", "kafka.md"}
INLINE = re.compile(r"`(evenflow [^`]+)`")
END = {"|", "||", "&&", ";", ">", ">>", "2>", "<", "&"}


def blocks(page: Path) -> Iterator[str]:
    """The lines of code blocks, continued ones joined."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.M | re.S)
    # A line of Markdown that is indented by four stands in a block, or goes on with a list's entry
    indented = re.findall(
        r"(?:\A|\n)\n((?: {4,8}\S.*\n)+)", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    for block in [*fenced, *indented]:
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()


def commands() -> list[tuple[str, str]]:
    """Every evenflow command of every page, with the page's name."""
    found: dict[tuple[str, str], None] = {}
    for page in PAGES:
        lines = [line.strip() for line in blocks(page)]
        lines += INLINE.findall(page.read_text(encoding="utf-8"))
        for line in lines:
            for part in re.findall(r"(?:^|[|;&]\s*)(evenflow .*)", line.removeprefix("$ ")):
                found[page.name, " ".join(part.split())] = None
    return list(found)


def words(line: str) -> list[str]:
    """The words of a command up to a pipe or a comment."""
    out: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    for word in lexer:
        if word in END:
            break
        out.append(word)
    return out[1:]


def wrong(line: str, at: Any) -> str | None:
    """What is wrong with a command; None: nothing."""
    given = words(line)
    while hasattr(at, "commands") and given and not given[0].startswith("-"):
        name = given.pop(0)
        if name.isupper() or name == ANY:  # `evenflow COMMAND --help`
            return None
        if name not in at.commands:
            return f"there is no command {name}"
        at = at.commands[name]
    known = {name for each in at.params for name in (*each.opts, *each.secondary_opts)}
    known |= {"--help", "-h", "--version", "--debug"}
    options = [word.partition("=")[0] for word in given if re.match(r"--?[a-zA-Z]", word)]
    missing = [each for each in options if each not in known]
    return f"there is no option {', '.join(missing)}" if missing else None


def test_commands_have_the_options_that_they_are_shown_with() -> None:
    found, app = commands(), application()
    assert len(found) > 100
    assert [f"{page}: {line}: {why}" for page, line in found if (why := wrong(line, app))] == []


def shown_outputs() -> list[tuple[str, str, str]]:
    """Commands with the output that a page shows: page, command, output."""
    return [
        (page.name, " ".join(found[1].replace("\\\n", " ").split()), found[2])
        for page in PAGES
        if page.name not in RUN_ELSEWHERE
        for found in re.finditer(
            r"(?m)((?:^    (?:evenflow|\S.*\| evenflow).*\n(?:^        .*\n)*))\n(?:[^\n`]+\n+)?"
            r"```text\n((?:.*\n)*?)```",
            page.read_text(encoding="utf-8"),
        )
    ]


def run(command: str, folder: Path) -> str:
    """Both streams of a command as a terminal shows them."""
    # The text of a document is coloured for a terminal alone; elsewhere it is JSON
    if " explain " in command:
        main, other = pty.openpty()
        done = subprocess.run(
            [COMMAND, *words(command)],
            cwd=folder,
            stdout=other,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"},
        )
        os.close(other)
        out = b""
        while chunk := _rest(main):
            out += chunk
        text = out.decode()
    else:
        done = subprocess.run(
            [COMMAND, *words(command)], cwd=folder, capture_output=True, text=True
        )
        text = done.stderr + done.stdout
    assert done.returncode in (0, 3), text
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _rest(stream: int) -> bytes:
    """What a closed terminal still holds."""
    try:
        return os.read(stream, 1 << 16)
    except OSError:
        return b""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    made = tmp_path_factory.mktemp("pages")
    (made / "tests").mkdir()
    (made / "tests/data").symlink_to(DATA)
    head, *rows = (DATA / "coverage/adult.csv").read_text().splitlines()
    people = [head.rpartition(",")[0]]
    for values, _, records in (row.rpartition(",") for row in rows):
        people += [values] * int(records)
    (made / "people.csv").write_text("\n".join(people) + "\n")
    (made / "sentences.txt").write_text(
        "Women are bad drivers. Muslims are terrorists by nature. My sister cannot park."
        " Not every old man is grumpy."
    )
    return made


def test_the_commands_and_code_of_readme_run_on_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the stream, which needs a broker (tests/services)."""
    (tmp_path / "corpus").mkdir()
    people = [("She met her mother.", "woman"), ("He met his father.", "man")]
    rows = [
        {"id": str(number), "source": "web", "text": f"{text} The {who} smiled."}
        for number in range(300)
        for text, who in [people[number % 2]]
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "corpus/a.jsonl").write_text(lines)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/a.jsonl").write_text(lines.replace("She met her mother", "He met his son"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [line.strip() for line in blocks(ROOT / "README.md") if "evenflow " in line]
    given = [line for line in shown if line.startswith("evenflow ") and " stream " not in line]
    assert " ".join(line.split()[1] for line in given) == "init run gate compare gate gate run"
    [listed] = re.findall(r"```yaml\n(.*?)```", readme, re.S)
    (tmp_path / "mine.yaml").write_text(listed)
    said = [run(line, tmp_path) for line in given]
    assert "may one train on accepted/: no" in said[1] and "then evenflow gate accept" in said[1]
    assert "web" in said[3] and "accept by" in said[4] and "300 documents: rows" in said[5]
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"```python\n(.*?)```", readme, re.S)
    made: dict[str, Any] = {}
    exec(code, made)
    assert made["rows"].num_rows == 300


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_what_is_printed_is_what_pages_show(folder: Path) -> None:
    """One test, since the demo is shown on several pages and takes a while."""
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    demo = re.findall(r"(?m)^\t\$\(BIN\)/(.*)", recipe)
    subprocess.run(
        [sys.executable, ROOT / demo[1].split()[1], folder / demo[1].split()[2]], check=True
    )
    run(demo[2], folder)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"```text\n(.*?)```", readme, re.S)
    wanted = [("README.md", demo[0], shown[0]), ("README.md", demo[3], shown[1]), *shown_outputs()]
    assert len(wanted) == readme.count("```text") + sum(
        page.read_text(encoding="utf-8").count("```text")
        for page in PAGES[1:]
        if page.name not in RUN_ELSEWHERE
    )
    outputs: dict[str, str] = {}
    for page, command, output in wanted:
        key = " ".join(words(command))
        if key not in outputs:
            outputs[key] = run(command, folder)
        found = re.search(pattern(output), outputs[key])
        assert found, f"{page}: {command} printed\n{outputs[key]}"


def test_the_examples_of_explain_change_and_find_what_they_name() -> None:
    examples = re.findall(r"echo '(.+)' \| evenflow explain (--[\w-]+)", explain.__doc__ or "")
    given = {option: text for text, option in examples}
    page = (ROOT / "docs" / "pages" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r'explain\("(.+)", counterfactual="gc"\).*# (.+)', page)
    for text, after in ((given["--counterfactual"], "My brother said he is late."), *shown):
        assert evenflow.explain(text, counterfactual="gc")["text_cda"]["gender"] == after
    [found] = evenflow.explain(given["--stereotypes"], stereotypes=True)["sentences"]
    assert shown and found["potential_stereotype"]["gender"] > 0.3
