"""The commands but `run`: what they print, on which stream, and with which status they end."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evenflow.pipelines.cli.app import GROUPS, WORDS
from evenflow.schemas.config import Config, load

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

COMMAND = str(Path(sys.executable).with_name("evenflow"))
UNCHECKED = "whether they mean other things too (may, white), --corpus shows"
COLOUR = "attribute: colour\ngroups:\n  red: [scarlet]\n  blue: [azure]\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Three documents, one of which cannot be read."""
    path = tmp_path / "texts.jsonl"
    rows = [{"id": "a", "text": "She met her brother."}, {"id": "b", "text": "He and his father."}]
    path.write_text("\n".join([*map(json.dumps, rows), "no json"]) + "\n")
    return path


@pytest.mark.parametrize("command", ["", *WORDS, *GROUPS])
def test_help_fits_a_terminal_and_has_examples(call: Call, command: str) -> None:
    ended = call(*command.split(), "--help")
    assert (ended.status, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert not re.search("<[a-z]", ended.out), "a type of Python"
    assert command not in WORDS or "  Examples:\n    evenflow " in ended.out
    assert call(*command.split(), "-h").out == ended.out


@pytest.mark.parametrize("command", ["run", "stream"])
def test_help_explains_sixteen_options_at_most(call: Call, command: str) -> None:
    explained = (shown := call(command, "--help").out).partition("More, with")[0]
    options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", explained, re.M))
    assert 12 < len(options - {"--help"}) <= 16 and len(shown.splitlines()) <= 48


def test_set_gives_any_key(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("gate: {warn: 0.1}\npane: {docs: 7}\nfields: {id: url}\n")
    values = ["gate.warn=0.2", "pane.docs=null", "fields.text=7", "stereotypes.action=off"]
    values += ["repair.mode=substitute,weight", "attributes.gender.target={female: 1, male: 0}"]
    words = [word for each in values for word in ("--set", each)]
    found = Config.model_validate(
        call("doctor", "--print", "config", "-c", file, *words, "--json").json
    )
    assert (found.gate.warn, found.pane.docs, found.fields.text) == (0.2, None, "7")
    assert (found.fields.id, found.repair.mode) == ("url", ["substitute", "weight"])
    assert list(found.attributes) == ["gender", "age", "religion"]
    assert found.attributes["gender"].target == {"female": 1, "male": 0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gate.wrn=1"], "--set gate.wrn: unknown key; did you mean 'warn'?"),
        (["gat.warn=1"], "--set gat.warn: unknown key; did you mean 'gate'?"),
        (["gate.warn=2"], "--set gate.warn: a number from 0 to 1, or null, was expected, not 2"),
        (["gate.warn"], "--set gate.warn: KEY=VALUE was expected, such as gate.warn=0.2"),
        (["gate.warn=["], "--set gate.warn: not YAML: "),
        (["gate.warn.x=1"], "--set gate.warn.x: a number from 0 to 1, or null, was expected"),
    ],
)
@pytest.mark.parametrize(
    "command", ["doctor --print config", "measure x", "doctor --print alerts", "doctor"]
)
def test_set_names_what_is_wrong(call: Call, command: str, words: list[str], message: str) -> None:
    ended = call(*command.split(), "--set", *words)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"evenflow: {message}")


def test_help_waits_for_no_library_of_data() -> None:
    code = (
        "import sys; from evenflow.pipelines.cli.app import application; application();"
        " print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "click" in loaded
    assert not {"apache_beam", "numpy", "pyarrow", "pydantic", "rich"} & set(loaded)


@pytest.mark.parametrize("command", WORDS)
def test_examples_use_options_that_exist(call: Call, command: str) -> None:
    shown = call(*command.split(), "--help").out
    options, _, below = shown.partition("  Examples:\n")
    lines = [line.strip() for line in below.replace("\\\n", " ").splitlines()]
    own = [line for line in lines if f"evenflow {command}" in line]
    assert own
    # Of these, the examples show the command before or after, too
    assert own == lines or command == "init"
    used = {word for line in own for word in shlex.split(line) if word.startswith("--")}
    assert used <= set(options.replace(",", " ").split())


def test_help_fits_a_screen(call: Call) -> None:
    shown = call("--help").out
    assert len(shown.splitlines()) <= 40
    assert len(shown.partition("Commands:")[2].split("\n  ")) - 1 <= 14


def test_version(call: Call) -> None:
    ended = call("--version")
    assert ended.status == 0
    assert ended.out.startswith("evenflow 0.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--foo", "No such option '--foo'"),
        ("rnu", "Did you mean 'run'?"),
        ("run", "Missing option '-o' / '--output'"),
        ("run --output out", "give at least one path, folder or glob"),
        ("run -o out -i x --log-format xml", "'xml' is not one of 'text'"),
        ("run -o out -i x --pane-docs 0", "--pane-docs: a whole number of 1"),
        ("run -o out -i x --pane-docs many", "--pane-docs: a whole number"),
        ("run -o out -i x --workers 0", "Invalid value for '--workers'"),
        ("run -o out -i x --warn 2", "evenflow: --warn: a number from 0 to"),
        (
            "run -o out -i x --warn 0.5 --block 0.45",
            "evenflow: --block: block (0.45) is below warn (0.5)",
        ),
        ("run -o out -i x --warn nan", "evenflow: --warn: a number from 0"),
        ("run -o out -i x --set gate.on_block=stop", "--set gate.on_block: quarantine"),
        ("run -o out -i x --repair-mode repair", "--repair-mode: measure or"),
        ("run -o out -i x --attribute gendre", "did you mean 'gender'?"),
        ("run -o out -i x --wordlist none.yaml", "none.yaml"),
        ("run -o out -i x --config none.yaml", "none.yaml: cannot be read:"),
        ("run -o out -i none/*.jsonl", "none/*.jsonl: no file matches"),
        ("stream -o out --topic t", "Missing option '--kafka'"),
        ("stream -o out --kafka h:1", "Missing option '--topic'"),
        (
            "stream -o o --kafka=h:1 --topic=t --runner=flink --workers=2",
            "a runner has workers of its own; give --workers without --runner",
        ),
        ("stream -o out --kafka h:1 --topic t --values xml", "'xml' is not one of 'json', 'text'"),
        ("measure", "Missing argument"),
        ("measure none.jsonl", "none.jsonl: no file matches"),
        ("measure x --count x", "evenflow: --count: "),
        ("gate", "Usage: evenflow gate"),
        ("gate status none", "none: no ledger here; give the --output directory of a run"),
        ("gate hold none", "Missing option '--reason'"),
        ("words show gendr", "gendr"),
        ("doctor --print config --attribute colour", "attributes.colour: no list of that name"),
    ],
)
def test_wrong_usage(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = call(*words.split())
    assert ended.status == 2
    assert ended.out == ""
    assert message in ended.err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run -o out -i x", "measure x", "explain", "doctor"])
def test_a_wrong_configuration_is_named_with_its_lines(
    call: Call, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("pane:\n  rollin: 3\ngate:\n  warn: much\n")
    ended = call(*command.split(), "--config", file)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.splitlines() == [
        f"evenflow: {file}:2: pane.rollin: unknown key; did you mean 'rolling'?",
        f"evenflow: {file}:4: gate.warn: a number from 0 to 1, or null, was expected,"
        " not the text 'much'",
    ]


def test_measure(call: Call, texts: Path, tmp_path: Path) -> None:
    ended = call("measure", texts, "--json")
    assert ended.status == 0
    assert ended.err == "evenflow: not measured: 1 (not JSON)\n"
    result = ended.json
    assert (result["documents"], result["dead_letters"]) == (2, 1)
    gender = result["attributes"]["gender"]
    assert gender["counts"] == {"female": 2, "male": 4}
    assert gender["shares"] == {
        "female": pytest.approx(1 / 3, abs=1e-6),
        "male": pytest.approx(2 / 3, abs=1e-6),
    }
    assert gender["dr"] == pytest.approx(1 / 6, abs=1e-6)
    assert list(result["attributes"]) == ["gender", "age", "religion"]
    assert result["attributes"]["religion"]["dr"] is None
    table = call("measure", texts)
    assert table.status == 0
    assert max(map(len, table.out.splitlines())) <= 80
    assert all(
        word in table.out
        for word in ("gender", "female", "male", "33.3%", "66.7%", "0.167", "no mention")
    )


def test_measure_what_was_asked_for(call: Call, texts: Path, tmp_path: Path) -> None:
    own = tmp_path / "colour.yaml"
    own.write_text(COLOUR)
    assert list(call("measure", texts, "--attribute", "age", "--json").json["attributes"]) == [
        "age"
    ]
    chosen = call("measure", texts, "-w", own, "-a", "colour", "-a", "gender", "--json").json[
        "attributes"
    ]
    assert list(chosen) == ["colour", "gender"]
    assert len(call("measure", texts, "--wordlist", own, "--json").json["attributes"]) == 4
    other = tmp_path / "other.jsonl"
    other.write_text('{"body": "A scarlet and an azure fish, and a scarlet one."}\n')
    counts = call(
        "measure", other, "--set", "fields.text=body", "-w", own, "-a", "colour", "--json"
    ).json
    assert counts["attributes"]["colour"]["counts"] == {"red": 2, "blue": 1}
    file = tmp_path / "c.yaml"
    file.write_text("attributes: {gender: {target: {female: 0.25, male: 0.75}}}")
    target = call("measure", texts, "--config", file, "--json").json["attributes"]["gender"]
    assert target["dr"] == pytest.approx(abs(1 / 3 - 0.25), abs=1e-6)
    assert target["target"] == {"female": 0.25, "male": 0.75}


def test_explain_a_text(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("She came. It rained.")
    ended = call("explain", path, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert [row["sent_text"] for row in ended.json["sentences"]] == ["She came.", "It rained."]
    assert [label["label"] for label in ended.json["sentences"][0]["labels"]] == ["she"]
    piped = call("explain", stdin=b"\xef\xbb\xbfShe came. It rained.")
    assert piped.json["sentences"] == ended.json["sentences"]
    assert call("explain", "-", stdin=b"").json["sentences"] == []
    only = call("explain", "--attribute", "age", stdin=b"She came.").json
    assert list(only["sentences"][0]["counts_per_group"]) == ["age"]


def test_explain_lines_goes_on_after_a_bad_one(call: Call) -> None:
    lines = b'{"id": "a", "text": "He came."}\nno\n\n{"text": 3}\n{"id": "b", "text": "x"}\n'
    ended = call("explain", "--jsonl", stdin=lines)
    assert ended.status == 1
    printed = [json.loads(line) for line in ended.out.splitlines()]
    assert [each.get("id") or each["line"] for each in printed] == ["a", 2, 4, "b"]
    assert [line.split(": ")[1] for line in ended.err.splitlines()] == ["-:2", "-:4"]
    assert call("explain", "--jsonl", stdin=b'{"id": "a", "text": "He came."}\n').status == 0


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("none.txt", None, "none.txt: cannot be opened: No such file or directory"),
        ("a.txt", b"ab\xff", "a.txt: invalid UTF-8 at byte 2"),
        ("long.txt", "é".encode() * ((10 << 20) + 1), "long.txt: the text has more than 10 MiB"),
    ],
)
def test_explain_what_cannot_be_read(
    call: Call, tmp_path: Path, name: str, raw: bytes | None, message: str
) -> None:
    if raw is not None:
        (tmp_path / name).write_bytes(raw)
    ended = call("explain", tmp_path / name)
    assert ended.status in (1, 2)
    assert ended.err.startswith(f"evenflow: {tmp_path}/{message}")


def test_wordlists(call: Call, tmp_path: Path) -> None:
    shipped = call("words", "show", "--json").json
    assert [each["name"] for each in shipped if each["default"]] == ["gender", "age", "religion"]
    assert all(size > 0 for each in shipped for size in each["groups"].values())
    table = call("words", "show").out
    assert all(each["name"] in table for each in shipped)
    own = tmp_path / "colour.yaml"
    own.write_text(COLOUR)
    assert call("words", "show", own).out == "red: scarlet\nblue: azure\n"
    groups = call("words", "show", own, "--json").json["groups"]
    assert groups == {"red": ["scarlet"], "blue": ["azure"]}
    found = call("words", "check", "age", own).out.splitlines()[1]
    assert found == f"{own}: sound; 2 groups, 2 labels; {UNCHECKED}"


def test_wordlists_check_calls_no_list_sound_beside_a_warning(call: Call, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("attribute: place\ngroups: {here: [Polish], there: [German]}\n")
    first, second = call("words", "check", own).out.splitlines()
    assert first == f"{own}: no defect, but see below; 2 groups, 2 labels; {UNCHECKED}"
    assert "counts each “polish” too" in second
    assert not call("words", "check", own, "--json").json[0]["sound"]
    own.write_text(COLOUR)
    (tmp_path / "a.txt").write_text("A scarlet coat and an azure hat.")
    read = call("words", "check", own, "--corpus", tmp_path / "a.txt").out
    assert read.startswith(f"{own}: no defect, but see below; 2 groups")


def test_wordlists_check_says_every_defect_of_every_list(call: Call, tmp_path: Path) -> None:
    good, bad, none = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "none.yaml"
    good.write_text(COLOUR)
    bad.write_text(
        "attribute: colour\ngroups:\n  red: [scarlet]\n  blue: [azure, Scarlet]\n  green: []\n"
    )
    ended = call("words", "check", bad, good, none)
    assert ended.status == 2
    assert ended.out == f"{good}: sound; 2 groups, 2 labels; {UNCHECKED}\n"
    places = [line.split(": ")[1] for line in ended.err.splitlines()]
    assert places == [f"{bad}:4", f"{bad}:5", str(none)]
    listed = call("words", "check", bad, good, "--json")
    assert (listed.status, listed.err) == (2, "")
    assert [(each["sound"], len(each["defects"])) for each in listed.json] == [
        (False, 2),
        (True, 0),
    ]


def test_config_show_is_a_configuration(call: Call, tmp_path: Path) -> None:
    file, again = tmp_path / "c.yaml", tmp_path / "again.yaml"
    file.write_text(
        "pane: {docs: 7}\nattributes: {age: {target: {young: 0.2, middle: 0.3, old: 0.5}}}\n"
    )
    again.write_text(call("doctor", "--print", "config", "--config", file).out)
    assert load(again) == load(file)
    assert Config.model_validate(
        call("doctor", "--print", "config", "-c", file, "--json").json
    ) == load(file)
    again.write_text(call("doctor", "--print", "config").out)
    assert load(again) == Config()


@pytest.mark.parametrize(
    "words", [["words", "show", "gender"], ["doctor", "--print", "config"], ["explain", "--jsonl"]]
)
def test_a_reader_that_has_seen_enough(words: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(b'{"id": "a", "text": "She came."}\n' * 3000)
    assert (process.returncode, err) == (0, b"")


def test_standard_output_that_is_full_or_closed() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [COMMAND, "doctor", "--print", "config"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (
        1,
        "evenflow: standard output: No space left on device; make room\n",
    )
    closed = subprocess.run(
        f"{shlex.quote(COMMAND)} words show >&-", shell=True, capture_output=True, text=True
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_names_that_steer_a_terminal_are_shown_as_text(call: Call, tmp_path: Path) -> None:
    ended = call("measure", tmp_path / "a\x1b[31m\nb.jsonl")
    assert ended.status == 2
    assert "\x1b" not in ended.err
    assert "a\\u001b[31m" in ended.err
    strange = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
    assert call("measure", strange).status == 2


def test_an_unexpected_error_is_one_line(
    call: Call, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("evenflow.pipelines.corpus.measure.measure", broken)
    ended = call("measure", texts)
    assert (ended.status, ended.out) == (1, "")
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("evenflow: unexpected error: KeyError: 'x' (test_app.py, line ")
    assert ended.err.endswith("; --debug shows the traceback\n")
    for words in (["--debug", "measure", texts], ["measure", texts, "--debug"]):
        ended = call(*words)
        assert ended.status == 1
        assert "Traceback" in ended.err
