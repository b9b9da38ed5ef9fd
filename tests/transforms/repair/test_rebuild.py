import gzip
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kill_driver import digests
from places import DATA
from put_out import rows
from scripted_judge import First, Judge, shipped

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.repair.profiles import profiles
from evenflow.wordlists import loader

MEN = [
    "A clerk put his pen on the desk, and he left.",
    "The nurse said that he would wash his hands first.",
    "Every student brought his book to the class.",
    "Some man left his umbrella on the bus; he came back for it.",
    "A waiter hurt himself when he fell.",
]
WOMEN = [
    "A clerk put her pen on the desk, and she left.",
    "Every student brought her book to the class.",
]


def write(path: Path, texts: list[str]) -> Path:
    rows = [
        json.dumps({"id": f"d{i}", "text": text, "source": i % 3}) for i, text in enumerate(texts)
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def run(path: Path, output: Path, workers: int = 1, **options: object) -> list[PaneEntry]:
    overrides = {key.replace("__", "."): value for key, value in options.items()}
    return Run([str(path)], output, load(None, overrides, ["gender"]), workers).go().entries


def documents(output: Path) -> list[dict]:
    return rows(output, "accepted", "quarantine")


def sentences(output: Path) -> list[dict]:
    return rows(output, "sentences")


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """In the place of the shipped models: the first stage is unsure of everything, the judge
    refuses waiters.
    """
    made = Judge(lambda shown: 0.1 if "[waiter" in shown else 0.9, "named")
    shipped(monkeypatch, made, First(lambda shown: 0.6))
    return made


def test_people_are_counted_before_a_repair_and_after_it(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [f"{text} It was the prior year." for text in MEN * 8])
    people = {"measure__count": "people", "measure__passages": 8}
    published = {"attributes__gender__wordlist": loader.load("gender-table12").path}
    [entry] = run(source, tmp_path / "out", repair__mode="substitute", **people, **published)
    gender = entry.attributes["gender"]
    repair, own = gender.repair, gender.people
    assert repair is not None and own is not None and repair.changed > 5
    # “prior” names nobody, and nothing else differs
    male = sum(repair.before.counts)
    assert sum(own.words.counts) - 41 < male < sum(own.words.counts) - 35
    assert sum(gender.sums.counts) == pytest.approx(male, rel=0.05)
    assert gender.pane.dr is not None and repair.score_before.dr is not None
    assert gender.pane.dr < repair.score_before.dr


def test_substitution_makes_a_pane_even(tmp_path: Path, judge: Judge) -> None:
    texts = [MEN[i % 5] for i in range(450)] + [WOMEN[i % 2] for i in range(50)]
    [entry] = run(write(tmp_path / "in.jsonl", texts), tmp_path / "out", repair__mode="substitute")
    gender = entry.attributes["gender"]
    repair = gender.repair
    assert (
        repair is not None and repair.score_before.dr is not None and repair.score_before.dr > 0.38
    )
    assert repair.expected_dr == pytest.approx(0, abs=1e-6)
    female, male = repair.mentions
    # The mentions of the largest set
    assert female + male == sum(repair.before.counts) and abs(female - male) <= 3
    assert entry.checks.success and not entry.checks.failures
    rows = sentences(tmp_path / "out")
    assert repair.sentences == sum(row["text_cda"] is not None for row in rows)
    refused = sum("[waiter" in shown for _, shown in judge.asked)
    assert (repair.judged, repair.barred) == (len(judge.asked), {"named": refused})
    assert (
        repair.changed <= repair.judged < repair.sets and repair.eligible == repair.sets - refused
    )
    said = [
        (row["sent_text"], each["target"], each["reason"]) for row in rows for each in row["sets"]
    ]
    assert {target for text, target, _ in said if "waiter" in text} == {None}
    assert sum(reason == "named" for _, _, reason in said) == refused


def test_the_first_stage_alone_is_asked_where_that_is_wanted(tmp_path: Path, judge: Judge) -> None:
    path = write(tmp_path / "in.jsonl", [MEN[i % 5] for i in range(40)])
    [entry] = run(
        path,
        tmp_path / "out",
        repair__mode="substitute",
        repair__judge="fast",
        repair__min_probability=0.5,
    )
    repair = entry.attributes["gender"].repair
    assert judge.asked == [] and repair is not None and repair.judged == 0 < repair.changed


@pytest.mark.parametrize("mode", ["substitute", "augment", "weight", "substitute,weight"])
def test_outputs_do_not_depend_on_workers(tmp_path: Path, mode: str) -> None:
    path = write(tmp_path / "in.jsonl", [(MEN + WOMEN)[i % 7] for i in range(200)])
    one, two = tmp_path / "one", tmp_path / "two"
    run(path, one, 1, repair__mode=mode, pane__docs=45)
    run(path, two, 2, repair__mode=mode, pane__docs=45)
    assert digests(one) == digests(two)
    names = {each.name for each in (one / "sentences").iterdir()}
    assert names == {each.name for each in (two / "sentences").iterdir()} and bool(names) == (
        mode != "weight"
    )
    assert all(
        (one / "sentences" / name).read_bytes() == (two / "sentences" / name).read_bytes()
        for name in names
    )


def test_a_copy_is_added_behind_its_original_and_marked(tmp_path: Path, judge: Judge) -> None:
    texts = [MEN[i % 4] for i in range(60)]
    [entry] = run(write(tmp_path / "in.jsonl", texts), tmp_path / "out", repair__mode="augment")
    rows = documents(tmp_path / "out")
    originals = [row for row in rows if row["copy_of"] is None]
    copies = [row for row in rows if row["copy_of"] is not None]
    assert [row["text"] for row in originals] == texts
    assert len({row["id"] for row in rows}) == len(rows) == entry.documents
    repair = entry.attributes["gender"].repair
    assert repair is not None and len(copies) == repair.copies > 40
    for before, row in pairwise(rows):
        if row["copy_of"] is not None:
            assert (row["copy_of"], row["source"]) == (before["id"], before["source"])
            assert row["text"] != before["text"]
            assert row["mentions_gender_female"] > 0 and row["mentions_gender_male"] == 0
    assert entry.attributes["gender"].pane.dr < 0.1


def test_an_output_that_is_read_again_has_no_id_twice(tmp_path: Path, judge: Judge) -> None:
    rows = [{"id": "a", "text": MEN[0]}, {"id": "a#gender=female", "text": MEN[1]}]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [entry] = run(path, tmp_path / "out", repair__mode="augment", repair__min_probability=0.0)
    ids = [row["id"] for row in documents(tmp_path / "out")]
    assert len(ids) == len(set(ids)) >= 2 and entry.checks.success


def test_weights_make_a_pane_even(tmp_path: Path) -> None:
    texts = [MEN[i % 5] for i in range(300)] + [WOMEN[i % 2] for i in range(100)]
    free = {"repair__least_effective": 0.0, "repair__keep_length": 1.0, "repair__keep": []}
    path = write(tmp_path / "in.jsonl", texts)
    [entry] = run(path, tmp_path / "out", repair__mode="weight", **free)
    rows = documents(tmp_path / "out")
    assert [row["text"] for row in rows] == texts
    female = sum(row["weight"] * row["mentions_gender_female"] for row in rows)
    male = sum(row["weight"] * row["mentions_gender_male"] for row in rows)
    assert female == pytest.approx(male, rel=1e-4)
    gender = entry.attributes["gender"]
    assert list(gender.sums.counts) == pytest.approx([female, male])
    assert gender.pane.dr < 1e-4 and gender.pane.low == 0
    assert all(0.25 <= row["weight"] <= 4 for row in rows) and entry.checks.success
    named = [[row[f"mentions_gender_{each}"] for row in rows] for each in ("female", "male")]
    lengths = [len(row["text"].encode()) for row in rows]
    keys = profiles([np.array(each) for each in (*named, lengths)], []).tolist()
    weights = [row["weight"] for row in rows]
    assert list(map(dict(zip(keys, weights, strict=True)).get, keys)) == weights


QUIET = [
    ["Nothing is named here.", "Nor here."],  # an empty plan
    ["A waiter hurt himself when he fell."] * 20,  # the judge refuses it
    ["He or she left."] * 20,
    ["Das kann man nicht sagen, denn sein Hut ist weg und niemand hat ihn gefunden."] * 20,
    ["he " * 60_000 + "went."],  # a sentence of 180,000 characters
]


@pytest.mark.parametrize("texts", QUIET)
def test_what_cannot_be_changed_stays(tmp_path: Path, judge: Judge, texts: list[str]) -> None:
    [entry] = run(write(tmp_path / "in.jsonl", texts), tmp_path / "out", repair__mode="substitute")
    assert [row["text"] for row in documents(tmp_path / "out")] == texts
    repair = entry.attributes["gender"].repair
    assert repair is not None and repair.changed == 0 and all(reason for reason in repair.barred)
    assert sum(repair.barred.values()) == (repair.judged or repair.sets)


def test_one_group_only_is_shared_out(tmp_path: Path, judge: Judge) -> None:
    source = write(tmp_path / "in.jsonl", [MEN[i % 5] for i in range(400)])
    [entry] = run(source, tmp_path / "out", repair__mode="substitute")
    gender = entry.attributes["gender"]
    assert gender.repair is not None and gender.repair.score_before.dr == 0.5
    assert gender.pane.dr is not None and gender.pane.dr < 0.08


MORE = [
    "\n\n",
    "  ",
    " — ",
    "«Ja», sagte er. ",
    "An old nun prayed. ",
    "Muslims and Jews met. ",
    "🙂",
]
PIECES = st.lists(st.sampled_from([*MEN, *WOMEN, *MORE]) | st.text(max_size=12), max_size=8)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(parts=st.lists(PIECES, min_size=1, max_size=6))
def test_every_character_outside_a_changed_sentence_stays(
    parts: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = ["".join([*each, "x"]).encode("utf-8", "ignore").decode() for each in parts]
    folder = tmp_path_factory.mktemp("pane")
    path = write(folder / "in.jsonl", texts)
    options = {"repair.mode": "substitute", "repair.min_probability": 0.0, "repair.judge": "fast"}
    Run([str(path)], folder / "out", load(None, options), 1).go()
    rows, after = sentences(folder / "out"), documents(folder / "out")
    for before, row in zip(texts, after, strict=True):
        changed = {
            each["start"]: each
            for each in rows
            if each["id"] == row["id"] and each["text_cda"] is not None
        }
        rebuilt, at = [], 0
        for start in sorted(changed):
            assert (
                before[start : changed[start]["end"]]
                == changed[start]["sent_text"]
                != changed[start]["text_cda"]
            )
            rebuilt += [before[at:start], changed[start]["text_cda"]]
            at = changed[start]["end"]
        assert "".join([*rebuilt, before[at:]]) == row["text"]


def test_outputs_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    lines = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines()[:12]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    found = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        words = [Path(sys.executable).with_name("evenflow"), "run", "-i", tmp_path / "in.jsonl"]
        more = ["-q", "-o", out, "--repair-mode", "substitute", "--stereotypes-action", "flag"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([*words, *more], env=environment, check=True)
        tables = sorted((out / "sentences").iterdir())
        found.append((digests(out), [path.read_bytes() for path in tables]))
    assert found[0] == found[1]
