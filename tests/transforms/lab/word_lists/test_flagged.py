"""Flagged sentences of a run are read by people, and their calibration decides what is removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from evenflow.pipelines.lab.word_review.app import application
from evenflow.schemas.config import load
from evenflow.transforms.lab.word_lists import draft as drafts
from evenflow.transforms.lab.word_lists import flagged
from evenflow.transforms.lab.word_lists.journal import Journal
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.stereotypes import calibration
from evenflow.transforms.models import cuts
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.substitution import reading

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
TRAITS = ("stupid", "hysterical", "bad drivers", "emotional", "manipulative", "weak")
STARTS = ("Women", "All women", "Most women", "Nearly all girls", "Old women", "Wives")
NONE = "Two women met at the station. They are weak."


def sentences(text: str) -> list[str]:
    return [each for each in text.split("\n\n") if each]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    texts = [f"{a} are {b}.\n\n{NONE}\n\nIt rained." for a in STARTS for b in TRAITS]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def kept(output: Path) -> str:
    """The text of a run's accepted documents."""
    import pyarrow.parquet as pq

    paths = sorted((output / "accepted").rglob("*.parquet"))
    return "\n\n".join(text for path in paths for text in pq.read_table(path)["text"].to_pylist())


def test_what_people_read_decides_what_a_run_removes(
    call: Call, corpus: Path, tmp_path: Path
) -> None:
    run = ("run", "-q", "-i", corpus, "-a", "gender", "--repair-mode", "measure")
    out, seen = tmp_path / "out", tmp_path / "seen.json"
    assert call(*run, "-o", out, "--stereotypes-action", "flag").status in (0, 3)
    removes = (*run, "--stereotypes-action", "remove")
    review = ("words", "review", out, "--finish", seen)
    ended = call(*review)
    assert ended.status == 2 and "undecided" in ended.err and not seen.exists()
    ended = call(*review, "--leave-undecided")
    assert ended.status == 2 and "nobody has read" in ended.err and not seen.exists()
    draft = tmp_path / "out.draft.json"
    journal = Journal(made := drafts.read(draft), draft)
    own = [each for each in made.candidates if each.group == "gender"]
    assert 20 <= len(own) <= flagged.EACH and len({each.band for each in own}) > 1
    assert not any("They" in each.word or "Wives" in each.word for each in own)  # as of women
    high = max(each.band or 0 for each in own)
    for each in own:  # right in the highest band, and nowhere else
        action = ("accept", "gender") if each.band == high else ("reject", "")
        journal.add("Ada", each.word, *action)
    assert call(*review, "--leave-undecided").status == 0
    figures = json.loads(seen.read_text())
    last = figures["bounds"]["gender"][-1]
    assert last[:2] == [flagged.BANDS[high], 1.0] and 0 < last[2] < 1.0 == last[3]
    assert figures["bounds"]["gender"][0][1] < 0.8
    done = tmp_path / "done"
    call(*removes, "-o", done, "--set", f"stereotypes.remove_from={seen}")
    text = kept(done)
    for each in own:
        sentence = each.examples[0]
        assert (sentence in sentences(text)) == (each.band != high), sentence
    # Without the review, the shipped figures of gender do not allow removal
    plain = tmp_path / "plain"
    call(*removes, "-o", plain)
    assert all(each.examples[0] in kept(plain) for each in own)


def draft_of(*candidates: drafts.Candidate) -> drafts.Draft:
    """A draft of sentences on age."""
    return drafts.Draft(
        attribute="stereotypes",
        groups=("age", flagged.UNSURE),
        source="out",
        licence="",
        documents=0,
        option="B",
        candidates=candidates,
    )


def test_the_page_asks_for_a_sentence(tmp_path: Path) -> None:
    one = drafts.Candidate(
        word="age: <b>Old</b> folks.",
        group="age",
        forms={},
        sources=(),
        order=1,
        examples=("<b>Old</b> folks.",),
        band=1,
        of=7,
    )
    made = draft_of(one)
    path = tmp_path / "out.draft.json"
    drafts.write(path, made)
    journal = Journal(drafts.read(path), path)
    own = "http://127.0.0.1"
    with TestClient(
        application(journal, "t"),
        base_url=own,
        headers={"origin": own, "sec-fetch-site": "same-origin"},
    ) as client:
        form = client.get("/?token=t").text.partition('name="form" value="')[2].partition('"')[0]
        page = client.post("/who", data={"form": form, "who": "Ada"}).text
        assert "a stereotype of the kind age?" in page and "<b>Old" not in page
        assert "unsure" in page and "Counterpart" not in page
        client.post("/decide", data={"form": form, "word": one.word, "action": "accept:unsure"})
    assert journal.state().opinions["Ada"][one.word].group == flagged.UNSURE
    # Unsure is not right
    assert flagged.calibration(made, {one.word: "unsure"})["called"] == {
        "age": [(0.3, 1, 0), (0.5, 1, 0)]
    }


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"called": {}}',
        json.dumps({**cuts.REVIEWED, "version": 2, "called": {}}),
        json.dumps({**cuts.REVIEWED, "called": {"age": [[0.3, 5, 6]]}}),
        json.dumps({**cuts.REVIEWED, "called": {"age": [[7, 5, 5]]}}),
        json.dumps({**cuts.REVIEWED, "called": [1]}),
    ],
)
def test_a_file_that_is_no_calibration_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    path.write_text(content)
    config = load(None, {"stereotypes.remove_from": str(path)})
    with pytest.raises(ModelError, match=r"stereotypes\.remove_from.*seen\.json"):
        calibration.of(config)


def test_a_band_counts_as_often_as_the_corpus_has_it() -> None:
    def one(name: str, band: int, of: int) -> drafts.Candidate:
        return drafts.Candidate(
            word=name, group="age", forms={}, sources=(), order=1, band=band, of=of
        )

    few = [one(f"low {number}", 0, 90) for number in range(10)]
    many = [one(f"high {number}", 4, 10) for number in range(10)]
    made = draft_of(*few, *many)
    chosen = {each.word: "" for each in few} | {each.word: "age" for each in many}
    found = flagged.calibration(made, chosen)
    assert found["called"]["age"][0] == (0.3, 20, 2) and found["bounds"]["age"][0][1] == 0.1
    assert found["called"]["age"][-1] == (0.9, 10, 10)
    del chosen["low 0"]
    assert flagged.calibration(made, chosen)["called"]["age"][0] == (0.3, 19, 1)
    unread = {name: said for name, said in chosen.items() if said}
    assert flagged.calibration(made, unread)["called"]["age"][0][0] == 0.5


def test_a_continued_run_notes_another_review(tmp_path: Path) -> None:
    found: list[Any] = []
    for at, count in enumerate((5, 6)):
        path = tmp_path / "seen.json"
        path.write_text(json.dumps({**cuts.REVIEWED, "called": {"age": [[0.3, count, 5]]}}))
        (tmp_path / "c.yaml").write_text("stereotypes: {remove_from: seen.json}\n")
        config = load(tmp_path / "c.yaml", {}, ["gender"])
        assert config.stereotypes.remove_from == str(path), "relative to the file's folder"
        found.append(registry.digests(config)["reviewed"])
        assert at == 0 or found[0] != found[1]


def test_what_people_say_of_exchanges_decides_what_a_run_exchanges(
    call: Call, tmp_path: Path
) -> None:
    path, seen, draft = (tmp_path / name for name in ("in.jsonl", "seen.json", "out.draft.json"))
    things = ("bike", "car", "boat", "house", "shop", "farm", "kite", "lamp", "desk", "coat")
    path.write_text(
        "".join(json.dumps({"text": f"A man sold a {what}."}) + "\n" for what in things)
    )
    run = ("run", "-q", "-i", path, "-a", "gender", "--repair-mode", "substitute")
    out, review = tmp_path / "out", ("words", "review", tmp_path / "out", "--finish", seen)
    assert call(*run, "-o", out, "--set", "repair.min_probability=0.3").status in (0, 3)
    assert call(*review).status == 2
    journal = Journal(made := drafts.read(draft), draft)
    assert made.groups == ("exchange_of_gender", "unsure") and made.candidates
    for each in made.candidates:
        before, after = each.examples
        assert before.replace("man", "woman") == after
        journal.add("Ada", each.word, "reject")
    assert call(*review).status == 0
    config = load(None, {"repair.min_probability": str(seen)}, ["gender"])
    assert "off for gender: best by your review: 0.00 [" in reading.promise(config, "gender")
    figures = json.loads(seen.read_text())
    figures["bounds"]["exchange_of_gender"] = [[0.5, 0.8, 0.7, 0.9], [0.7, 0.9, 0.82, 0.95]]
    seen.write_text(json.dumps(figures))
    assert "from probability 0.7 by your review: 0.90 [0.82" in reading.promise(config, "gender")
    seen.write_text(seen.read_text().replace("0.82", "1.82"))
    with pytest.raises(ModelError, match=r"repair\.min_probability.*less than or equal to 1"):
        registry.digests(config)
