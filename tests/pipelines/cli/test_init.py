"""`evenflow init`: a configuration that loads and fits the input that was looked at."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evenflow.schemas.config import Config, load
from evenflow.transforms.measures.shift.measure import read

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


def _rows(count: int, **more: Any) -> list[dict[str, Any]]:
    """Records whose texts name men three times as often as women."""
    return [
        {"key": f"k{n}", "body": "She saw. He saw him. His dog ran.", "n": n % 7, **more}
        for n in range(count)
    ]


def _corpus(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def written(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a configuration for records and loads it."""
    monkeypatch.chdir(tmp_path)

    def write(rows: list[dict[str, Any]], *words: str) -> tuple[Config, str]:
        ended = call("init", _corpus(tmp_path / "in", rows), "-o", "e.yaml", *words)
        assert ended.status == 0, ended.err
        return load(tmp_path / "e.yaml"), (tmp_path / "e.yaml").read_text()

    return write


def test_fields_panes_attributes_and_a_reference_are_found(written: Any) -> None:
    config, text = written(_rows(2000, language="en"))
    assert (config.fields.text, config.fields.id) == ("body", "key")
    assert config.pane.docs == 100  # 20 panes
    assert list(config.attributes) == ["gender"]
    assert config.gate.warn is None and config.attributes["gender"].warn is None
    assert (config.reference.file or "").endswith("e.reference.json")
    assert config.gate.shift.block is None
    assert "female 25.0%, male 75.0%" in text and "Languages: en 100%" in text
    assert "Not named in the sample" in text and "# religion:" in text


def test_a_run_with_it_raises_no_alarm(call: Call, written: Any, tmp_path: Path) -> None:
    rows = _rows(600)
    for n, row in enumerate(rows):
        row["body"] = "She saw her." * (n * 7 % 5) + " He saw him." * (n * 3 % 7)
    written(rows)
    assert call("run", "-i", tmp_path / "in", "-o", "out", "-c", "e.yaml", "-q").status == 0


def test_few_mentions_get_larger_panes(written: Any) -> None:
    rows = [{"id": str(n), "text": "Rain." if n % 10 else "She left."} for n in range(1000)]
    config, _ = written(rows)
    assert config.pane.docs == 500  # 200 mentions in four panes


def test_what_the_input_says_stays_in_comments(written: Any) -> None:
    evil = {"a\nrepair: {mode: [substitute]}": "x", "b: &x": "y", "language": "en\nfields: 3"}
    config, _ = written(_rows(50, **evil))
    assert config.repair.mode == ("measure",) or list(config.repair.mode) == ["measure"]


def test_a_list_of_ones_own_is_named_from_the_file(written: Any, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text("attribute: job\ngroups: {a: [dog], b: [cat]}\n")
    config, _ = written(_rows(300), "-w", str(tmp_path / "jobs.yaml"))
    assert "job" in config.attributes and len(config.word_lists()) == 2


def test_texts_and_no_input(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for n in range(40):
        (tmp_path / "texts" / f"{n}.txt").write_text("She saw him.\n")
    assert call("init", "texts").status == 0
    text = (tmp_path / "evenflow.yaml").read_text()
    assert "From a look at 40 of about 40 documents" in text and "fields:" not in text
    assert call("init", "-o", "plain.yaml").status == 0
    assert list(load(tmp_path / "plain.yaml").attributes) == list(load(None).attributes)


@pytest.mark.parametrize(
    ("rows", "said"),
    [([], "no document could be read"), ([{"n": 1}], "no field holds texts; there are n")],
)
def test_what_cannot_be_looked_at(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = call("init", _corpus(tmp_path / "in", rows))
    assert ended.status == 2 and said in ended.err


def test_a_file_that_is_there_stays(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evenflow.yaml").write_text("mine")
    for more in ((), ("--force",)):
        ended = call("init", *more)
        assert ended.status == 2 and "was not written by init" in ended.err
    assert (tmp_path / "evenflow.yaml").read_text() == "mine"
    (tmp_path / "evenflow.yaml").unlink()
    assert call("init").status == 0 and "--force replaces it" in call("init").err
    assert call("init", "--force").status == 0


def test_sources_that_are_too_small_to_be_compared_are_named(call: Call, tmp_path: Path) -> None:
    for count, said in ((10, True), (2000, False)):
        folder = _corpus(tmp_path / str(count), _rows(count))
        ended = call("init", folder, "-o", tmp_path / f"{count}.yaml")
        assert ended.status == 0
        assert ("; 15 are needed" in ended.out) == said != ("judged on gender" in ended.out)


def test_a_reference_that_is_made_again_stays_what_it_was(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs.yaml").write_text("attribute: job\ngroups: {a: [dog], b: [cat]}\n")
    folder = _corpus(tmp_path / "in", [row | {"source": f"s{row['n'] % 2}"} for row in _rows(400)])
    mine, alone = ["-w", "jobs.yaml"], ["init", folder, "--reference", "r.json"]
    ended = call("init", folder, "-o", "e.yaml", *mine)
    assert "2 sources, by source\n  s0: judged on gender, job\n" in ended.out, ended.err
    assert call(*alone, *mine).status == 0
    assert Path("r.json").read_bytes() == Path("e.reference.json").read_bytes()
    for words in (alone, ["init", folder, "-o", "e.yaml"]):
        ended = call(*words, "--force")
        assert ended.status == 2 and "has job: give its list" in ended.err
    assert call(*alone, "--force", "-a", "gender", "--by", "n").status == 0  # as the user says
    assert call(*alone, "--force").status == 0
    assert read("r.json").by == "n"
    chosen = ["-c", "e.yaml", "--set", "reference.file=r.json"]
    lacks = "r.json has no job: that shift is not judged; make it again"
    assert lacks in call("doctor", *chosen).out
    assert lacks in call("run", "-i", folder, "-o", "out", *chosen, "-q").err
    of_output = ["init", "out", "--reference", "o.json"]
    assert "out has job: give its list" in call(*of_output).err
    assert call(*of_output, *mine).status == 0
    assert read("o.json").by == "n" and read("o.json").strata["1"]["job"].documents
    (tmp_path / "e.yaml").unlink()
    assert "e.reference.json is there already" in call("init", folder, "-o", "e.yaml").err


def test_what_is_proposed_names_the_lists_and_runs_on_files_that_the_user_trusts(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs.yaml").write_text("attribute: job\ngroups: {a: [dog], b: [cat]}\n")
    folder = _corpus(tmp_path / "a b", [row | {"text": row["body"]} for row in _rows(200)])
    ended = call("run", folder, "-o", "my out", "-w", "jobs.yaml", "-q", "--json")
    train = ended.json["train"]
    assert train["said"] == "nothing was judged"
    assert train["next"] == "evenflow init GOOD -w jobs.yaml"
    words = shlex.split(train["next"])[1:]
    assert "gate: nothing was judged\n" in call("gate", "status", "my out").out
    ended = call(*(str(folder) if each == "GOOD" else each for each in words))
    assert ended.status == 0, ended.err
    assert "job" in load(Path("evenflow.yaml")).attributes
    proposed = [str(folder) if each == "NEW" else each for each in ended.out.split()]
    assert call(*proposed[proposed.index("evenflow") + 1 :], "-q").status == 0
