"""`evenflow coverage` on tables and on texts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scripted_llm import MODEL, Script, ScriptedLLM, Turn, in_turn

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

ADULT = Path(__file__).parents[2] / "data" / "coverage" / "adult.csv"
ROWS = [("f", "old"), ("f", None), ("m", "old"), ("m", "young"), ("m", "young")]


@pytest.fixture(params=["csv", "csv.gz", "parquet", "jsonl"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"t.{request.param}"
    if request.param == "parquet":
        sex, age = zip(*ROWS, strict=True)
        pq.write_table(pa.table({"sex": sex, "age": age}), path)
    elif request.param == "jsonl":
        path.write_text("\n".join(json.dumps({"sex": s, "age": a}) for s, a in ROWS))
    else:
        text = "sex,age,other\n" + "".join(f"{s},{a or ''},1\n" for s, a in ROWS)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("missing", "records", "expected"),
    [
        ("open", 5, {"f, young": 0, "m, old": 1, "f, old": 1}),
        ("value", 5, {"(missing)": 1, "f, young": 0, "m, old": 1, "f, old": 1}),
        ("drop", 4, {"f": 1, "m, old": 1}),
    ],
)
def test_tables(
    call: Call, table: Path, missing: str, records: int, expected: dict[str, int]
) -> None:
    done = call(
        *("coverage", "gaps", table, "--attributes", "sex,age", "--tau", "2"),
        *("--missing", missing, "--json", "--table"),
    )
    assert done.status == 0, done.err
    assert done.json["records"] == records
    found = {", ".join(gap["pattern"].values()): gap["records"] for gap in done.json["gaps"]}
    assert found == expected
    assert all(gap["missing"] == 2 - gap["records"] for gap in done.json["gaps"])
    shown = call("coverage", "gaps", table, "--attributes", "sex,age", "--tau", "2", "--table")
    assert "sex f, age young" in shown.out
    refused = call("coverage", "gaps", table, "--attributes", "sex,age", "--tau", "2")
    assert (refused.status == 0) == (".csv" in table.name)  # elsewhere a text may name ages
    assert refused.status == 0 or "say --table" in refused.err


def test_gaps_that_the_records_cannot_show_are_told(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,race\n" + "f,a\n" * 150 + "m,a\n" * 150 + "f,b\n" + "m,b\n" * 40)
    common = (path, "--attributes", "sex,race", "--tau", "1%")
    done = call("coverage", "gaps", *common, "--json")
    assert (done.json["state"], done.json["found"], done.json["unsure"]) == ("cannot tell", 0, 1)
    assert [gap["pattern"] for gap in done.json["unsure_gaps"]] == [{"sex": "f", "race": "b"}]
    shown = call("coverage", "gaps", *common)
    assert "0 gaps below 0.01; cannot tell of 1" in shown.out
    assert "341 records can show no gap below 0.011" in shown.out
    exact = call("coverage", "gaps", *common, "--exact", "--json")
    assert (exact.json["state"], exact.json["found"], exact.json["unsure"]) == ("gap", 1, 0)
    path.write_text("sex,race\n" + "f,<script>\n" * 3 + "m,b\n")
    assert call("coverage", "gaps", *common, "--html", tmp_path / "gaps.html").status == 0
    page = (tmp_path / "gaps.html").read_text()
    assert "75.0%" in page and "<script>" not in page


def test_each_value_of_a_relation_on_its_own(call: Call) -> None:
    done = call(
        *("coverage", "gaps", ADULT, "--attributes", "sex,race", "--by", "income", "--tau", "1%"),
        *("--json",),
    )
    assert set(done.json) == {"<=50K", ">50K"}
    assert all("income" not in each["values"] for each in done.json.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--attributes", "sex,nothing", "--tau", "1"], "nothing"),
        (["--attributes", "sex", "--tau", "2.5"], "threshold"),
        (["--attributes", "sex,sex", "--tau", "1"], "twice"),
    ],
)
def test_what_cannot_be_used_is_said(call: Call, words: list[str], said: str) -> None:
    done = call("coverage", "gaps", ADULT, *words)
    assert done.status != 0 and said in done.err


def test_a_plan_in_words_and_as_json(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,race\n" + "f,a\n" * 8 + "m,a\n" * 8 + "f,b\n" * 2 + "m,b\n" * 5)
    common = ("coverage", "plan", path, "--attributes", "sex,race", "--tau", "6")
    shown = call(*common)
    assert shown.status == 0, shown.err
    assert "add 4 records with sex f, race b" in shown.out
    assert "add 1 record with sex m, race b" in shown.out
    done = call(*common, "--worst", "1", "--json")
    assert done.json["records"] == 4
    assert [each["after"] for each in done.json["closes"]] == [6]
    shares = call(*common, "--html", tmp_path / "plan.html", "--json").json["shares"]
    for state, women, of in (("before", 2, 23), ("after", 6, 28)):
        assert shares[state][0]["shares"][0][1] == pytest.approx(women / of)
        assert f", {state} the plan</h2>" in (tmp_path / "plan.html").read_text()
    even = (*common, "--balance", "sex:race=0.1", "--html", tmp_path / "even.html", "--json")
    plain, balanced = call(*common, "--json").json, call(*even).json
    assert plain["gain"] == pytest.approx((6 / 28 - 2 / 23 + 6 / 28 - 5 / 23) / 2)
    page = (tmp_path / "even.html").read_text()
    assert all(
        f'>{own["records"]}</td><td class="num">{own["gain"]:.4f}<' in page
        for own in (plain, balanced)
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tau", "60%"], "race b reaches 0.6"),
        (["--tau", "6", "--balance", "sex:height=0.1"], "height"),
        (["--tau", "6", "--balance", "sex:race=adaptive", "--rates", "1,2"], "four rates"),
        (["--tau", "6", "--balance", "sex"], "NAME=NUMBER"),
    ],
)
def test_why_there_is_no_plan(call: Call, tmp_path: Path, words: list[str], said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,race\n" + "f,a\n" * 8 + "m,a\n" * 8 + "f,b\n" * 2 + "m,b\n" * 5)
    done = call("coverage", "plan", path, "--attributes", "sex,race", *words)
    assert done.status == 2 and said in done.err


OLD = ["The boys carried the wood to the shed.", "A man stood by the door and read the list."]
MEN = [  # the judge is sure enough of an exchange in all but the first
    *OLD,
    "My brother found the key under a mat.",
    "A man sat by the window and read a letter.",
    "A man waited at the bus stop with his bag.",
]


def writing(texts: Iterable[str]) -> Script:
    """Answers with these texts in turn."""
    return in_turn(Turn(content=json.dumps({"relation": None, "text": each})) for each in texts)


def test_gaps_close_through_the_gate(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path, made = tmp_path / "t.jsonl", tmp_path / "made.jsonl"
    config = tmp_path / "c.yaml"
    config.write_text(
        "coverage: {tau: 3, attributes: [gender, site], warn: 0.1}\n"
        "attributes: {gender: {warn: 1, block: 1}}\n"
    )
    names = ["woman", "women", "girl", "man", "men", "boy", "boys"]
    rows = [(f"In {year} the {name} left.", "a") for year, name in enumerate(names, 1990)]
    rows += [(text, "b") for text in MEN]
    path.write_text("".join(json.dumps({"text": text, "site": at}) + "\n" for text, at in rows))

    def judged(*inputs: Path) -> dict[str, Any]:
        out = tmp_path / f"out{len(inputs)}"
        given = [word for each in inputs for word in ("--input", each)]
        done = call("run", *given, "--output", out, "--config", config, "--quiet")
        assert done.status == 0, done.err
        return json.loads((out / "ledger" / "00000000.json").read_bytes())["measures"]["coverage"]

    before = judged(path)
    assert before["verdict"]["state"] == "warn"
    assert [each["pattern"] for each in before["rolling"]["gaps"]] == [
        {"gender": "female", "site": "b"}
    ]
    common = (path, "--attributes", "gender,site", "--tau", "3")
    texts = [
        "A girl sold apples at the market.",
        *(f"{who} women came by {at}." for at, who in TRAINS),
    ]
    with ScriptedLLM(writing(texts)) as server:
        done = call(
            *("coverage", "plan", *common, "--write", made),
            *("--config", config, "--set", f"llm.url={server.url}", "--set", f"llm.model={MODEL}"),
        )
    assert done.status == 0, done.err
    assert f"3 of 3 records written by {MODEL}, from 3 candidates" in done.out
    assert all(json.loads(line)["synthetic"] for line in made.open())
    after = judged(path, made)
    assert after["verdict"]["state"] == "open" and not after["rolling"]["gaps"]


def test_what_cannot_be_checked_is_not_written(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path, made = tmp_path / "t.jsonl", tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in OLD))
    common = (path, "--attributes", "gender", "--tau", "2")
    given = ("coverage", "plan", *common, "--write", made)
    with ScriptedLLM() as server:
        words = ("--set", f"llm.url={server.url}", "--set", f"llm.model={MODEL}")
        nowhere = call(*given, *words, "--perplexity-model", tmp_path / "nowhere")
    assert nowhere.status == 2 and "no such folder" in nowhere.err and not made.exists()
    done = call(*given)
    assert done.status == 2 and "a language model writes the records" in done.err


TRAINS = [("the early train", "Two"), ("boat from the island", "Some")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "coverage.entities=nowhere.csv"], "nowhere.csv"),
        (["--set", "coverage.properties=gender"], "--set coverage.properties"),
    ],
)
def test_what_nothing_can_be_written_from(
    call: Call, tmp_path: Path, words: list[Any], said: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"text": OLD[0]}))
    kb = tmp_path / "kb.csv"
    kb.write_text("id,name\n")
    out = tmp_path / "o.jsonl"
    given = [path, "--attributes", "gender", "--tau", "1", "--write", out]
    given += ["--set", "llm.url=http://127.0.0.1:9", "--set", f"llm.model={MODEL}"]
    done = call("coverage", "plan", *given, "--set", f"coverage.entities={kb}", *words)
    assert done.status != 0 and said in done.err


def test_what_a_plan_leaves_open_is_given_a_value(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    speeches = Path(__file__).parents[2] / "data" / "speeches.jsonl.gz"
    with gzip.open(speeches) as lines:
        path.write_bytes(b"".join(lines.readlines()[60:75]))
    # No religion is named so often, so a plan could ask for any sentence
    common = (path, "--attributes", "religion,source", "--tau", "5")
    assert call("coverage", "gaps", *common, "--json").json["gaps"][0]["pattern"] == {}
    made = call("coverage", "plan", *common, "--json").json
    targets = [each["target"] for each in made["additions"]]
    assert len(targets) > 1 and all(set(each) == {"religion", "source"} for each in targets)


PEOPLE = "id,name,gender\n1,Ada,female\n2,Bo,male\n3,Cy,male\n3,Cy,female\n4,Ada May,\n5,Bo,male\n"
TRIPLES = [
    ("Ada worked at Mill.", "Ada", "employer"),
    ("Cy worked at Mill, and bo too.", "Cy", "employer"),
    ("Bo worked at Mill with Ada.", "2", "employer"),
    ("Ada May was born in Bohemia.", "Ada May", "birthplace"),
    ("Bo was born there.", "Bo", "birthplace"),
]


def test_the_gate_looks_up_as_the_command_does(call: Call, tmp_path: Path) -> None:
    path, kb, config = tmp_path / "t.jsonl", tmp_path / "kb.csv", tmp_path / "c.yaml"
    kb.write_text(PEOPLE)
    names = ("text", "subject", "relation")
    rows = [json.dumps(dict(zip(names, each, strict=True))) + "\n" for each in TRIPLES]
    path.write_text("".join(rows))

    def judged(section: str, *words: Any) -> dict[str, Any]:
        config.write_text(f"coverage: {{{section}, entities: kb.csv}}\n")
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        done = call("run", "-i", path, "-o", out, "--config", config, *words)
        assert done.status == 0, done.err
        assert done.err.count("contradiction: 3 (Cy): gender is female") == 1
        last = max((out / "ledger").glob("0*.json"))
        return json.loads(last.read_bytes())["measures"]["coverage"]["rolling"]

    def told(attributes: str, *words: Any) -> dict[str, Any]:
        common = ("--set", f"coverage.entities={kb}", "--json", "--depth", "2")
        return call("coverage", "gaps", path, "--attributes", attributes, *common, *words).json

    # One of three with Mill is Ada, one the second entity; of Cy nothing is known
    section = "tau: 2, attributes: [subject.gender], by: relation"
    by_relation = judged(section, "--workers", "2", "--pane-docs", "3")
    parts = told("subject.gender", "--by", "relation", "--tau", "2")
    assert by_relation["found"] == sum(each["found"] for each in parts.values()) == 4
    assert {"relation": "birthplace", "subject.gender": "female"} in [
        each["pattern"] for each in by_relation["gaps"] if each["records"] == 0
    ]
    # “bo” and “Bohemia” are not Bo, and Ada May, of whom nothing is known, is not Ada
    named = judged("tau: 3, attributes: [text.gender, relation]")
    same = told("text.gender,relation", "--tau", "3")
    assert named["records"] == same["records"] == 3 and named["gaps"] == same["gaps"]
    assert {(*each["pattern"].values(), each["records"]) for each in named["gaps"]} == {
        ("female", 2),
        ("male", 2),
        ("birthplace", 1),
        ("employer", 2),
    }


def test_a_run_goes_on_with_its_knowledge_base_alone(call: Call, tmp_path: Path) -> None:
    path, kb, config, out = (tmp_path / each for each in ("t.jsonl", "kb.csv", "c.yaml", "out"))
    path.write_text(json.dumps({"text": "She left.", "who": "Ada"}))
    config.write_text("coverage: {tau: 1, attributes: [who.gender], entities: kb.csv}\n")
    run = ("run", "-i", path, "-o", out, "--config", config, "-q")
    for text, said in (
        (None, "kb.csv"),
        ("name\nAda\n", "id and name"),
        ("id,name,sex\n1,Ada,f\n", "who.gender"),
    ):
        if text is not None:
            kb.write_text(text)
        done = call(*run)
        assert done.status == 2 and said in done.err and done.err.count("\n") == 1
        assert not out.exists()
    kb.write_text("id,name,gender\n1,Ada,f\n")
    assert call(*run).status == 0
    assert call(*run).status == 0
    kb.write_text("id,name,gender\n1,Ada,m\n")
    done = call(*run)
    assert done.status == 2 and "entities: " in done.err


def test_gaps_of_relations_close(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path, kb, made = (tmp_path / each for each in ("t.jsonl", "k.csv", "m.jsonl"))
    kb.write_text(
        "id,name,gender,employer,birthplace\n1,Ada,female,Mill,Rome\n2,Bea,female,North,Oslo\n"
        "3,Carl,male,Mill,Rome\n4,Dan,male,North,Rome\n5,Fay,female,South,Lima\n"
    )
    rows = [
        ("For ten years Carl worked at Mill.", "Carl", "employer", "Mill"),
        ("In spring Dan had a post at North.", "Dan", "employer", "North"),
        ("Carl was born in Rome.", "Carl", "birthplace", "Rome"),
        ("Dan grew up in Rome.", "Dan", "birthplace", "Rome"),
    ]
    names = ("text", "subject", "relation", "object")
    path.write_text("".join(json.dumps(dict(zip(names, e, strict=True))) + "\n" for e in rows))
    common = ("--attributes", "subject.gender", "--by", "relation", "--tau", "2")
    common += ("--set", f"coverage.entities={kb}")

    def gaps(*inputs: Path) -> dict[str, int]:
        found = call("coverage", "gaps", *inputs, *common, "--json").json
        return {name: each["found"] for name, each in found.items()}

    assert gaps(path) == {"birthplace": 1, "employer": 1}  # no woman
    ends = iter(("before the war.", "and liked it there.", "with two others.", "for a while."))
    said = {"employer": "worked at", "birthplace": "was born in"}

    def answer(request: dict[str, Any]) -> Turn:
        asked = json.loads(request["messages"][-1]["content"])
        words = said[asked["relation"]]
        text = f"{asked['subject']} {words} {asked['object']} {next(ends)}"
        return Turn(content=json.dumps({"relation": words, "text": text}))

    with ScriptedLLM(answer) as server:
        done = call(
            *("coverage", "plan", path, *common, "--write", made, "--json"),
            *("--set", f"llm.url={server.url}", "--set", f"llm.model={MODEL}"),
        )
    assert done.status == 0, done.err
    assert {name: each["written"] for name, each in done.json.items()} == dict.fromkeys(
        ("birthplace", "employer"), 2
    )
    assert gaps(path, made) == {"birthplace": 0, "employer": 0}


def test_without_a_gap_the_plan_is_empty(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\nx\ny\n")
    done = call("coverage", "plan", path, "--attributes", "a", "--tau", "1")
    assert done.status == 0 and "no gap to fill" in done.out
