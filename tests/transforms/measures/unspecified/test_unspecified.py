"""People without a group: which words count, how their share is computed, how the gate shows it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from plugin_packages import evenflow

from evenflow.schemas.config import Config
from evenflow.transforms import wilson
from evenflow.transforms.annotation.annotate import Annotator, attributes
from evenflow.transforms.annotation.mentions import MentionCounter
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.measure import MeasureTotals
from evenflow.transforms.measures.unspecified.measure import Unspecified, UnspecifiedPeople
from evenflow.wordlists import writing
from evenflow.wordlists.loader import LANGUAGES, WordListError, load

LISTS = ("gender", *(f"gender_{code}" for code in LANGUAGES))
SETTINGS = {"attributes": {"gender": {}}, "measures": {"unspecified": {}}}


def counted(*texts: str, **settings: object) -> dict[str, dict[str, int]]:
    """Words of each attribute by group, in texts."""
    config = Config.model_validate(SETTINGS | settings)
    annotator = Annotator(config)
    found = Documents("", [str(n) for n in range(len(texts))], list(texts), [*range(len(texts))])
    sums = annotator.mentions.count(found).figures.measures["unspecified"]
    return {attribute: own["counts"] for attribute, own in sums.items()}


def judged(sums: dict[str, object], before: MeasureTotals | None = None) -> Unspecified:
    """What the ledger has of a pane with some sums of gender."""
    config = Config.model_validate(SETTINGS)
    record = UnspecifiedPeople().judge(config, config.word_lists(), {"gender": sums}, before)
    assert record is not None
    return record


def test_words_without_a_group_are_counted_beside_those_of_the_groups() -> None:
    texts = ("She met a doctor and two students.", "His parents left.", "It rained.")
    assert counted(*texts) == {"gender": {"female": 1, "male": 1, "unspecified": 3}}


def test_the_longest_of_words_that_overlap_counts() -> None:
    assert counted("My best friend is a police officer.")["gender"]["unspecified"] == 2
    found = counted("女人和孩子", attributes={"gender_zh": {}})
    assert found == {"gender_zh": {"female": 1, "male": 0, "unspecified": 1}}


def test_particles_may_be_written_to_the_words() -> None:
    found = counted("학생들은 어머니에게 갔다.", attributes={"gender_ko": {}})
    assert found == {"gender_ko": {"female": 1, "male": 0, "unspecified": 1}}


def test_a_list_is_searched_in_its_language_alone_where_languages_matter() -> None:
    pytest.importorskip("py3langid")
    english = "The students of this school met their teacher and talked about the coming week."
    spanish = "Las personas de este pueblo hablaron con la gente sobre la semana que viene."
    both: dict[str, object] = {"gender": {}, "gender_es": {}}
    found = counted(english, spanish, attributes=both, measure={"by_language": True})
    assert {name: own["unspecified"] for name, own in found.items()} == {
        "gender": 2, "gender_es": 2
    }  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_each_list_of_gender_has_words_and_none_of_them_names_a_group(name: str) -> None:
    words = load(name)
    finder, wider = LabelFinder([words]), LabelFinder([words.with_unspecified])
    assert words.unspecified
    for word in words.unspecified:
        assert not finder.find(word), word
        assert [(each.label, each.group) for each in wider.find(word)] == [(word, "unspecified")]


@pytest.mark.parametrize(
    ("words", "defect"),
    [
        ("[spouse, Wife]", "too (line 3)"),
        ("[spouse, Spouse]", "listed twice"),
        ("[two  blanks]", "more than one within"),
        ("people", "a list of words was expected"),
        ("[]", "a list of words was expected"),
    ],
)
def test_defects_of_the_key_are_reported(tmp_path: Path, words: str, defect: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"attribute: own\ngroups:\n  a: [wife]\n  b: [husband]\nunspecified: {words}\n")
    with pytest.raises(WordListError, match=r"own\.yaml:5") as found:
        load(path)
    assert defect in str(found.value)


def test_a_group_of_the_keys_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    groups = "groups:\n  unspecified: [wife]\n  b: [husband]\n"
    path.write_text(f"attribute: own\n{groups}unspecified: [spouse]\n")
    with pytest.raises(WordListError, match="a group has this name"):
        load(path)


@pytest.mark.parametrize("text", ["quelqu'un dort", "quelqu’un dort"])
def test_both_apostrophes_are_found_in_a_list_with_ignored_words(text: str) -> None:
    found = LabelFinder([load("gender_fr").with_unspecified]).find(text)
    assert [(each.label, each.group) for each in found] == [("quelqu'un", "unspecified")]


def test_a_list_is_written_with_the_key(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(writing.content(load("gender_ko")))
    assert load(tmp_path / "own.yaml").unspecified == load("gender_ko").unspecified


def test_the_interval_is_that_of_a_share_where_documents_have_one_word() -> None:
    without, named = 120, 280
    products = {"without": without, "cross": 0, "with": named}
    counts = {"female": 100, "male": 180, "unspecified": without}
    found = judged({"documents": 400, "counts": counts, "products": products}).rolling["gender"]
    low, high = wilson.interval(without / 400, 400)
    assert found.shares == {"female": 0.25, "male": 0.45, "unspecified": 0.3}
    assert found.low == pytest.approx(low, abs=0.006)
    assert found.high == pytest.approx(high, abs=0.006)


def test_the_interval_is_wider_where_words_go_together() -> None:
    products = {"without": 120 * 10, "cross": 0, "with": 280 * 10}
    counts = {"female": 100, "male": 180, "unspecified": 120}
    found = judged({"documents": 40, "counts": counts, "products": products}).rolling["gender"]
    low, high = wilson.interval(0.3, 40)
    assert found.low is not None and found.high is not None
    assert found.high - found.low == pytest.approx(high - low, abs=0.03)


def test_products_are_those_of_documents() -> None:
    texts = ["She is a doctor.", "People met people and him.", "A student."]
    config = Config.model_validate(SETTINGS)
    lists = config.word_lists()
    counter = MentionCounter(lists, attributes(config, lists), registry.counters(config, lists))
    found = Documents("", ["a", "b", "c"], texts, [0, 1, 2])
    own = counter.count(found).figures.measures["unspecified"]["gender"]
    each = np.array([[1, 1], [2, 1], [1, 0]])
    (free, cross), (_, named) = (each.T @ each).tolist()
    assert own["products"] == {"without": free, "cross": cross, "with": named}
    assert own["documents"] == 3


def test_a_pane_without_a_word_for_people_has_no_share() -> None:
    products = dict.fromkeys(("without", "cross", "with"), 0)
    counts = dict.fromkeys(("female", "male", "unspecified"), 0)
    found = judged({"documents": 0, "counts": counts, "products": products}).rolling["gender"]
    assert (found.shares, found.low, found.mentions) == ({}, None, 0)


def test_it_is_off_unless_the_configuration_names_it() -> None:
    assert "unspecified" not in registry.counters(Config(), Config().word_lists())
    config = Config.model_validate(SETTINGS)
    assert "unspecified" in registry.counters(config, config.word_lists())


def test_lists_without_the_key_are_told_of() -> None:
    notes: list[str] = []
    config = Config.model_validate({"attributes": {"age": {}}, "measures": {"unspecified": {}}})
    registry.look(config, notes.append)
    assert "unspecified" in notes[0]
    registry.look(Config.model_validate(SETTINGS), notes.append)
    assert len(notes) == 1


def test_it_goes_through_the_gate_and_changes_no_verdict(tmp_path: Path) -> None:
    lines = [
        json.dumps({"text": f"{('He', 'She')[n % 2]} met a student and {n} people."}) + "\n"
        for n in range(60)
    ]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    config = tmp_path / "settings.yaml"
    config.write_text("attributes: {gender: {}}\nmeasures: {unspecified: {}}\n")
    pane = ("--input", tmp_path / "in.jsonl", "--pane-docs", 20, "-a", "gender", "-q")
    without = evenflow(tmp_path, "run", *pane, "--output", tmp_path / "without")
    ended = evenflow(tmp_path, "run", *pane, "--output", tmp_path / "out", "--config", config)
    assert ended.returncode == without.returncode, ended.stderr
    entries = [
        json.loads((tmp_path / out / "ledger/00000002.json").read_text())
        for out in ("out", "without")
    ]
    assert entries[0]["unspecified"]["sums"]["gender"]["counts"]["unspecified"] == 40
    assert entries[0]["attributes"] == entries[1]["attributes"]
    assert "unspecified" not in entries[1]
    section = json.loads((tmp_path / "out/report.json").read_text())["measures"]["unspecified"]
    assert section["attributes"]["gender"]["shares"]["unspecified"] == pytest.approx(
        2 / 3, abs=1e-6
    )
    page = (tmp_path / "out/report.html").read_text()
    assert "People without a group" in page and ">66.7&nbsp;%<" in page
    status = evenflow(tmp_path, "gate", "status", tmp_path / "out").stdout
    assert "people without a group: gender: 66.7%" in " ".join(status.split())
    evenflow(tmp_path, "gate", "metrics", tmp_path / "out", "--file", tmp_path / "out.prom")
    metrics = (tmp_path / "out.prom").read_text()
    assert 'words_total{attribute="gender",gate="out",group="unspecified"} 120.0' in metrics
    assert (
        'evenflow_unspecified_share{attribute="gender",figure="share",gate="out"} 0.66' in metrics
    )
    measured = ("measure", tmp_path / "in.jsonl", "--config", config, "--json")
    figures = json.loads(evenflow(tmp_path, *measured).stdout)["measures"]["unspecified"]
    assert figures["attributes"] == section["attributes"]
