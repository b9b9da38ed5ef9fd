"""What is said of documents in a language that no word list has."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Call

import evenflow

pytest_plugins = ["commands"]

SPANISH = (
    "Su hijo dijo que he visto a la señora. El son cubano suena en la casa de su padre, he dicho."
)
ENGLISH = "He and his father said that this man had met his son and the other men in the town."


def test_what_no_list_has_is_not_judged(call: Call, tmp_path: Path) -> None:
    texts = [SPANISH] * 30 + [ENGLISH] * 10
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    measured = evenflow.measure(str(path), attributes=["gender"])
    english = evenflow.measure(str(path), {"measure.languages": ["en"]}, attributes=["gender"])
    assert measured["other_languages"] == {"es": 30} and "other_languages" not in english
    male = [each["attributes"]["gender"]["counts"]["male"] for each in (measured, english)]
    assert male == [70, 70 + 30 * 3]  # Spanish has “he” twice, and “son”
    said = "not judged: 30 documents in other languages (es 30)"
    assert said in call("run", "-i", path, "-o", tmp_path / "out", "-a", "gender").out
    assert said in call("gate", "status", tmp_path / "out").out
    assert said in call("measure", path).out
    assert said in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    [entry] = map(json.loads, map(Path.read_bytes, (tmp_path / "out" / "ledger").glob("0*.json")))
    assert entry["other_languages"] == {"es": 30} and entry["checks"]["success"]
    assert entry["attributes"]["gender"]["sums"]["counts"] == [0, 70]
