import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import Call

from evenflow import Gate
from evenflow.pipelines.pages.board.follow import Board
from evenflow.pipelines.pages.board.pages import Pages
from evenflow.pipelines.pages.report import why
from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.storage.storage import at

pytest_plugins = ["commands"]
BOTH, HE = "She met her brother.", "He met his father and his <b>uncle</b>, Mr. X."


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three panes: even, of men alone, even."""
    out = tmp_path_factory.mktemp("why") / "out"
    texts = [f"{BOTH} He met his sister."] * 60
    rows = [
        {"id": f"d{n}", "text": text} for n, text in enumerate([*texts, *[HE] * 59, "x. " + HE * 9])
    ]
    Gate({"pane.docs": 60, "gate.warn": 0.1, "gate.block": 0.2}, attributes=["gender"]).run(
        rows, out
    )
    return out


def test_why_a_pane_was_blocked(call: Call, output: Path) -> None:
    found = call("gate", "why", output, "--json").json
    assert (found["pane"], found["verdict"]["state"]) == (1, "block")
    assert found["runbook"] == "docs/pages/runbooks.md#evenflowdrblock"
    assert f"evenflow gate accept {output} --pane 1" in found["next"]
    [gender] = found["attributes"].values()
    assert gender["window"]["panes"] == [0] and gender["unread"] == []
    assert {row["label"] for row in gender["labels"]} >= {"his", "he", "uncle", "father", "mr"}
    first = gender["documents"][0]
    assert (first["id"], first["counts"]) == ("d119", [0, 54])
    assert all(
        row["passage"][each["start"] : each["end"]].lower()
        in ("he", "his", "father", "uncle", "mr")
        for row in gender["documents"]
        for each in row["labels"]
    )
    assert len(gender["documents"]) == 10
    text = call("gate", "why", output).out
    assert text.startswith("pane 1: block (gender: ") and "\nnext: read the documents" in text
    assert "x. He met his father" in text


def test_shares_that_add_up_to_more_than_everything_are_explained(
    call: Call, tmp_path: Path
) -> None:
    """Documents of women take from the excess, and are not listed."""
    rows = ["He met his father."] * 9 + ["She met her mother."] * 3
    config = {"pane.docs": 12, "gate.warn": 0.1, "gate.min_mentions": 1}
    Gate(config, attributes=["gender"]).run(rows, tmp_path / "out")
    found = call("gate", "why", tmp_path / "out", "--json").json
    [gender] = found["attributes"].values()
    assert sum(row["share"] for row in gender["documents"]) == pytest.approx(1.5, abs=1e-4)
    told = "mentions of the other groups offset a part: the listed documents have more than all"
    assert told in call("gate", "why", tmp_path / "out").out
    page = Pages(Board({"out": at(tmp_path / "out")}), False).pane("out", 0)
    assert told in page


def test_with_weights_mentions_are_whole_numbers_and_what_is_named_less_is_said(
    call: Call, tmp_path: Path
) -> None:
    rows = [f"{BOTH} He met his sister."] * 4 + [HE] * 36 + ["It rained."] * 40
    config = {"pane.docs": 80, "gate.warn": 0.01, "gate.block": 0.02, "gate.min_mentions": 1}
    config |= {"repair.mode": "weight", "repair.keep_length": 1.0}
    Gate(config, attributes=["gender"]).run(rows, tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text()
    cells = re.findall(r'data-of="(?:female|male)">([^<]*)<', page)
    assert cells and all(re.fullmatch(r"[\d,]+", each) for each in cells)
    card = call("gate", "card", tmp_path / "out", "--name", "x", "--json").json
    why, steps = call("gate", "why", tmp_path / "out").out, card["rai:dataPreprocessingProtocol"]
    for told in (page, why, " ".join(steps)):
        assert "mentions of gender weigh 0." in told


def test_the_report_explains_the_last_blocked_pane_and_escapes_it(output: Path) -> None:
    page = (output / "report.html").read_text()
    assert 'id="why"' in page
    assert "<mark>his</mark> &lt;b&gt;<mark>uncle</mark>&lt;/b&gt;" in page


@pytest.mark.parametrize("wrong", [["--pane", "9"], ["--attribute", "age"], ["--pane", "-1"]])
def test_what_is_not_there_is_named(call: Call, output: Path, wrong: list[str]) -> None:
    ended = call("gate", "why", output, *wrong)
    assert ended.status == 2 and wrong[0] in ended.err


def test_a_file_that_is_gone_is_named(call: Call, output: Path, tmp_path: Path) -> None:
    shard = output / "quarantine/part-00000001-0000.parquet"
    moved = shard.rename(tmp_path / "gone")
    [gender] = call("gate", "why", output, "--json").json["attributes"].values()
    moved.rename(shard)
    assert gender["unread"] == ["quarantine/part-00000001-0000.parquet"]
    assert gender["documents"] == [] and gender["labels"]


def test_a_file_without_its_columns_is_named(call: Call, output: Path, tmp_path: Path) -> None:
    shard = output / "quarantine/part-00000001-0000.parquet"
    moved = shard.rename(tmp_path / "whole")
    pq.write_table(pq.read_table(moved).select(["id", "text"]), shard)
    [gender] = call("gate", "why", output, "--json").json["attributes"].values()
    moved.replace(shard)
    assert gender["unread"] == ["quarantine/part-00000001-0000.parquet"]
    assert gender["documents"] == [] and gender["labels"]


def test_documents_that_were_pruned_are_no_accident(
    call: Call, output: Path, tmp_path: Path
) -> None:
    """Neither the command nor the board asks to read or accept what is gone."""
    out = shutil.copytree(output, tmp_path / "out")
    file = "quarantine/part-00000001-0000.parquet"
    words = ["--what", "quarantine", "--prune", "0h", "--delete"]
    assert call("gate", "verify", out, *words).status == 0
    assert not (out / file).exists()
    found = call("gate", "why", out, "--json").json
    [gender] = found["attributes"].values()
    [missing] = gender["missing"]
    assert missing.startswith(f"{file} was pruned on 20")
    assert "were pruned" in found["next"] and "gate accept" not in found["next"]
    printed = call("gate", "why", out).out
    assert "was pruned on" in printed and "cannot be read" not in printed
    pages = Pages(Board({"out": at(out)}), False)
    page = pages.pane("out", 1)
    assert "was pruned on" in page and "cannot be read" not in page
    page = pages.document("out", "d60", None)
    assert "was pruned on" in page and "cannot be read" not in page


def test_a_document_is_explained_by_its_id(call: Call, output: Path) -> None:
    for place in (output, output / "quarantine/part-00000001-0000.parquet"):
        ended = call("explain", place, "--id", "d61", "--no-stereotypes")
        assert json.loads(ended.out)["sentences"][0]["sent_text"].startswith("He met his father")
        missing = call("explain", place, "--id", "d999")
        assert missing.status == 2 and "d999" in missing.err


def test_a_passage_begins_before_the_first_label() -> None:
    finder = LabelFinder(Config().word_lists()[:1])
    text = "word " * 100 + "and she went. " + "word " * 100
    found, [label] = why.passage(text, finder)
    assert found.startswith("… word word") and found.endswith(" …")
    assert found[label.start : label.end] == "she"
    assert why.passage(text, None) == (text[:300] + " …", [])


def test_with_few_mentions_the_window_is_all_that_was_accepted(call: Call, tmp_path: Path) -> None:
    rows = ["He met his father."] * 8
    Gate({"pane.docs": 2, "pane.rolling": 1}, attributes=["gender"]).run(rows, tmp_path / "out")
    ended = call("gate", "why", tmp_path / "out", "--pane", "3").out
    assert "of this pane with the accepted panes before it: 0..2;" in ended
