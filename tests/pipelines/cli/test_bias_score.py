"""The bias score from the command line: explain, direction, reference, run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from put_out import rows

from evenflow.gates.ledger.history import History
from evenflow.transforms.measures.bias_score.records import BiasScore

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
LEANING = "The nurse wore a pink dress. The bikini is pretty."
PLAIN = "The report is long. He went home."


def corpus(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def test_explain_takes_the_score_apart(call: Call) -> None:
    ended = call(
        *("explain", "--bias-score", "--no-stereotypes", "-a", "gender"),
        stdin=b"The nurse wore pink. Xqz!",
    )
    first, second = (row["bias_score"] for row in ended.json["sentences"])
    assert second is None
    assert [word["word"] for word in first["words"]] == ["The", "nurse", "wore", "pink"]
    for group, score in first["groups"].items():
        assert sum(word["addition"][group] for word in first["words"]) == pytest.approx(
            score, abs=1e-4
        )
    assert first["groups"]["female"] > first["groups"]["male"]


def test_the_direction_is_described(call: Call) -> None:
    shown = call("lab", "bias-score", "--json").json
    assert (shown["pairs_used"], shown["pairs"]) == (10, 10)
    assert shown["agreement"] > 0.8
    assert "explains" in call("lab", "bias-score").out


def test_the_sentences_that_lean_most(call: Call, tmp_path: Path) -> None:
    texts = [
        "He wore pink lipstick. Xqz!",
        "She played football in the army. He wore pink lipstick.",
        "Ha ha. Ha, ha, ha, ha!",
    ]
    path = corpus(tmp_path / "t.jsonl", texts)
    shown = call("lab", "bias-score", path, "--most", 2, "--json").json
    assert list(shown) == ["female", "male"]
    first = shown["female"][0]
    assert (first["sentence"], len(shown["female"])) == ("He wore pink lipstick.", 2)
    assert not any("ha" in row["sentence"].lower().split() for row in shown["male"])
    assert "do not trust which group" in call("lab", "bias-score", path).err
    assert shown["male"][0]["sentence"] == "She played football in the army."
    scores = [row["score"] for row in shown["female"]]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    other = call("lab", "bias-score", path, "--attribute", "religion", "--json").json
    assert "islam" in other and "female" not in other


def test_a_run_is_judged_by_its_reference(call: Call, tmp_path: Path) -> None:
    clean = corpus(tmp_path / "clean.jsonl", [PLAIN, PLAIN + " " + LEANING] * 100)
    reference = tmp_path / "reference.json"
    ended = call("lab", "bias-score", clean, "--reference", reference)
    assert ended.status == 0 and "percentile 95: " in ended.out
    settings = tmp_path / "evenflow.yaml"
    settings.write_text(
        "attributes: {gender: {warn: 1.0, block: 1.0}}\n"
        "bias_score: {mode: measure, reference: reference.json, percentile: 90}\n"
    )
    tried = corpus(tmp_path / "tried.jsonl", [PLAIN] * 200)
    ended = call("run", "--input", tried, "--output", tmp_path / "out", "-c", settings, "-q")
    assert ended.status == 0
    (entry,) = History(tmp_path / "out")
    found = entry.measures["bias_score"]
    assert isinstance(found, BiasScore) and found.rolling.sentences == 400
    assert found.verdict.state != "not_judged"
    words = {each.word: each for each in found.words}
    assert "he" not in words and words["report"].count == 200
    assert 0 < sum(each.share for each in words.values()) <= 1.001
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Words that add most" in page and ">report<" in page

    vectors = tmp_path / "vectors.txt"
    vectors.write_text("she 1 0\nhe -1 0\nnurse 0.6 0.8\n")
    settings.write_text(settings.read_text().replace("{mode", "{vectors: vectors.txt, mode"))
    ended = call("run", "--input", tried, "--output", tmp_path / "two", "-c", settings, "-q")
    assert ended.status == 2
    assert "made with other vectors" in ended.err


@pytest.mark.parametrize("fields", [(), ("premise", "hypothesis")])
def test_documents_with_a_high_score_are_subtracted(
    fields: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    reference = tmp_path / "reference.json"
    plain = corpus(tmp_path / "clean.jsonl", [PLAIN] * 9 + ["He lost it."])
    assert call("lab", "bias-score", plain, "--reference", reference).status == 0
    settings = tmp_path / "evenflow.yaml"
    settings.write_text(
        "attributes: {gender: {}}\nbias_score: {mode: subtract, reference: reference.json,"
        f" percentile: 90, fields: [{', '.join(fields)}]}}\n"
    )
    rows = [
        {"id": "plain", "text": PLAIN, "premise": PLAIN, "hypothesis": "He went home."},
        {"id": "text", "text": "The bikini is pink.", "premise": PLAIN, "hypothesis": PLAIN},
        {"id": "pair", "text": PLAIN, "premise": PLAIN, "hypothesis": "The bikini is pink."},
        {"id": "null", "text": PLAIN, "premise": None, "hypothesis": "Xqz."},
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out"
    ended = call("run", "--input", source, "--output", out, "-c", settings, "-q")
    assert ended.status == 0
    (entry,) = History(out)
    assert entry.set_aside and entry.documents == 3
    (aside,) = pq.read_table(out / "quarantine" / entry.set_aside.name).to_pylist()
    assert aside["id"] == ("pair" if fields else "text")
    assert "bias score 0." in aside["reason"]
    assert "1 document, 25.0% of 4" in call("gate", "status", out).out


def test_a_corpus_without_a_known_word_makes_no_reference(call: Call, tmp_path: Path) -> None:
    path = corpus(tmp_path / "c.jsonl", ["xqzt blorf"])
    ended = call("lab", "bias-score", path, "--reference", tmp_path / "r.json")
    assert ended.status == 2
    assert not (tmp_path / "r.json").exists()


def augmented(
    call: Call,
    folder: Path,
    given: list[dict[str, object]],
    more: str = "",
    workers: int = 1,
    method: str = "base",
) -> tuple[Path, list[dict[str, object]]]:
    """Run with mode augment on documents, above the scores of plain texts; the output's given."""
    reference, settings = folder / "reference.json", folder / "evenflow.yaml"
    if not reference.exists():
        plain = corpus(folder / "clean.jsonl", [PLAIN] * 9 + ["He lost it."])
        assert call("lab", "bias-score", plain, "--reference", reference).status == 0
    settings.write_text(
        f"attributes: {{gender: {{}}}}\nrepair: {{method: {method}}}\nbias_score: {{mode: augment,"
        f" reference: reference.json, percentile: 90{more}}}\n"
    )
    source, out = folder / "in.jsonl", folder / f"out{workers}{len(more)}"
    source.write_text("".join(json.dumps(row) + "\n" for row in given))
    ended = call(
        *("run", "--input", source, "--output", out, "-c", settings, "-q", "--pane-docs", 40),
        *("--workers", workers),
    )
    assert ended.status in (0, 3), ended.err  # panes of few documents are blocked
    return out, rows(out, "accepted", "quarantine")


def test_documents_with_a_high_score_get_a_swapped_copy(call: Call, tmp_path: Path) -> None:
    texts = {
        "plain": PLAIN,
        "both": "A girl in a pink bikini met Patrick. His mother wore pink lipstick.",
        "nobody": "The bikini is pink.",
        "named": "Patrick wore a pink bikini.",
    }
    rows = [{"id": name, "text": text} for name, text in texts.items()]
    out, made = augmented(call, tmp_path, rows)
    ids = ["plain", "both", "both#gender=swapped", "nobody", "named"]
    assert [row["id"] for row in made] == ids
    copy = made[2]
    assert copy["copy_of"] == "both"
    assert copy["text"] == "A boy in a pink bikini met Patrick. Her father wore pink lipstick."
    assert (copy["mentions_gender_female"], copy["mentions_gender_male"]) == (1, 2)
    assert copy["bias_score_gender"] > made[0]["bias_score_gender"]
    (entry,) = History(out)
    repair = entry.attributes["gender"].repair
    assert repair is not None and (repair.mode, repair.copies, repair.changed) == ("augment", 1, 3)
    assert repair.before.counts == [2, 2]
    # Why the other two that were due got none, in the ledger and in the report
    assert repair.uncopied == {"it names no group": 2}
    page = (out / "report.html").read_text()
    assert "Documents that were due a copy and got none" in page and "it names no group" in page

    _, made = augmented(call, tmp_path, rows, more=", names: true")
    copies = {row["copy_of"]: row["text"] for row in made if row["copy_of"]}
    assert copies == {
        "both": "A boy in a pink bikini met Carolyn. Her father wore pink lipstick.",
        "named": "Carolyn wore a pink bikini.",
    }


@pytest.mark.parametrize("method", ["base", "gc, min_probability: 0.0"])
def test_the_fields_of_a_pair_are_swapped_together(method: str, call: Call, tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "x", "premise": "A girl wore a pink bikini.", "hypothesis": "She ran."},
        {"id": "2", "text": "A man.", "premise": "The bikini is pink.", "hypothesis": None},
        {"id": "3", "text": "A pink bikini. A man.", "premise": PLAIN, "hypothesis": PLAIN},
    ]
    more = ", fields: [premise, hypothesis]"
    _, made = augmented(call, tmp_path, rows, more, method=method)
    found = [(row["id"], row["text"], row["premise"], row["hypothesis"]) for row in made]
    assert found[1] == ("1#gender=swapped", "x", "A boy wore a pink bikini.", "He ran.")
    assert found[3] == ("2#gender=swapped", "A woman.", "The bikini is pink.", None)
    assert [row["id"] for row in made if row["copy_of"] is None] == ["1", "2", "3"]
    assert len(made) == 5
