"""Runs with an LLM: costs in the ledger, budgets, modes and the cache."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from scripted_llm import MODEL, ScriptedLLM, Turn, error, in_turn

from evenflow.gates.ledger.files import read_entries, read_meta
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.prompts import loader as prompts
from evenflow.schemas.config import load
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.llm.client.stats import Counted, Stats
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.llm.worker import Tier, cache_path, models

if TYPE_CHECKING:
    from commands import Call, Ended

pytest_plugins = ["commands"]

TEXTS = [
    "Some women are gossiping at the market again. A clerk lost his pen.",
    "Men never listen to anyone. The nurse said that he would wash his hands.",
    "A waiter hurt himself when he fell. She bought a hat.",
]


def corpus(tmp_path: Path) -> Path:
    """A file of fifteen documents."""
    path = tmp_path / "in.jsonl"
    path.write_text(
        "\n".join(json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(TEXTS * 5)),
        encoding="utf-8",
    )
    lines = [
        json.loads(line) | {"id": f"d{i}"} for i, line in enumerate(path.read_text().splitlines())
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def run(tmp_path: Path, name: str, url: str, **more: object) -> Path:
    """Runs the pipeline with an LLM and returns the output folder."""
    overrides: dict[str, Any] = {
        "llm.url": url,
        "llm.model": MODEL,
        "llm.cache": str(tmp_path / "answers.sqlite"),
        "llm.deadline": 3.0,
        "llm.detection": "llm",
        "stereotypes.action": "flag",
        "repair.mode": "substitute",
    }
    config = load(
        None, overrides | {key.replace("__", "."): value for key, value in more.items()}, ["gender"]
    )
    Run([str(corpus(tmp_path))], tmp_path / name, config).go()
    return tmp_path / name


def says(stereotype: bool) -> Any:
    """A script that gives this answer about stereotypes, and wrong answers to other questions."""

    def script(request: dict[str, Any]) -> Turn:
        asked = json.dumps(request)
        if '"belief"' not in asked:
            return Turn(content="{}")
        value = {"mentions_group": stereotype, "stereotype": False}
        value |= dict.fromkeys(("label", "belief", "said", "trait"))
        return Turn(content=json.dumps(value))

    return script


def test_the_ledger_has_the_cost_and_a_replay_asks_nothing(tmp_path: Path) -> None:
    with ScriptedLLM(says(False)) as server:
        first = run(tmp_path, "first", server.url)
        [entry] = read_entries(first)
        assert entry.llm is not None
        cost = entry.llm["stereotypes"]
        assert cost["questions"] > 0 and cost["tokens"] > 0 and cost["seconds"]["p50"] > 0
        record: Any = entry.measures["stereotypes"]
        found = record.attributes["gender"]
        # Nurses and waiters are asked about too: groups of no list, which the ledger does not count
        unlisted = sum(line.count("nurse") + line.count("waiter") for line in TEXTS * 5)
        assert found.potential == 0
        assert found.asked + unlisted == 5 * cost["questions"]  # each is asked once a pane
        [again] = read_entries(run(tmp_path, "again", server.url))
        assert again.llm is not None
        assert again.llm["stereotypes"]["requests"] == 0
        assert again.llm["stereotypes"]["cache_hits"] == cost["questions"]
        tables = [
            [pq.read_table(path) for path in sorted((out / "sentences").iterdir())]
            for out in (first, tmp_path / "again")
        ]
        assert tables[0] == tables[1]
    page = Path(build(first)).read_text(encoding="utf-8")
    assert (
        "Language model" in page
        and json.loads((first / "report.json").read_text())["llm"]["stereotypes"] == cost
    )
    meta = read_meta(first)
    assert meta is not None and re.fullmatch("[0-9a-f]{16}", entry.program["prompts"])
    assert "url" not in meta["settings"]["configuration"]["llm"]


class Noting:
    """Gives no answer, and keeps the questions."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def ask(self, questions: list[Question]) -> list[Answer]:
        """A fallback for each question."""
        self.asked += questions
        return [Answer(None, "fallback", "no") for _ in questions]


def test_a_budget_is_kept_and_embedded_asks_nothing(tmp_path: Path) -> None:
    base = {
        "llm.url": "http://127.0.0.1:9",
        "llm.model": "m",
        "stereotypes.action": "flag",
        "pane.mib": 1,
    }
    for mode in ("llm", "embedded"):
        config = load(
            None,
            {**base, "llm.detection": mode, "llm.indicators": mode},
            ["gender"],
        )
        noting = Noting()
        tier = Tier(config, noting)  # type: ignore[arg-type]
        with tier.block() as asked:
            from evenflow.transforms.measures.stereotypes import detect, llm_detector

            detector = llm_detector.tiered(config, tier)
            alone = detect.shipped().detect(TEXTS, [[] for _ in TEXTS])
            assert detector.detect(TEXTS, [[] for _ in TEXTS]) == alone
            assert noting.asked == [] and bool(asked) is (mode == "llm")
    with pytest.raises(RuntimeError, match="outside of a block"):
        tier.ask([])


def test_nothing_is_asked_without_screened_sentences() -> None:
    config = load(None, {"llm.url": "http://127.0.0.1:9", "llm.model": "m"}, ["gender"])
    assert Annotator(config).tier is None


def test_the_cache_is_where_the_user_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_path(load(None)) == tmp_path / "evenflow" / "llm.sqlite"
    assert cache_path(load(None, {"llm.cache": "/a/b"})) == Path("/a/b")


def test_a_missing_llm_is_reported_at_the_start_in_the_summary_and_in_the_status(
    tmp_path: Path, call: Call
) -> None:
    out, words = (
        tmp_path / "out",
        ("--stereotypes-action", "flag", "--attribute", "gender", "--set", f"llm.model={MODEL}"),
    )
    config = tmp_path / "evenflow.yaml"
    config.write_text(f"llm: {{detection: llm, cache: {tmp_path / 'answers.sqlite'}}}\n")
    with ScriptedLLM(lambda request: Turn(content="I would rather not.")) as server:
        ended = call(
            *("run", corpus(tmp_path), "-o", out, "--config", config),
            *("--set", f"llm.url={server.url}", *words),
        )
    assert ended.status == 0
    assert f"the language model {MODEL} left the first question unanswered" in ended.err
    said = " ".join(ended.out.split())
    assert said.startswith("gate: warn") and "why: 10 of 10 questions to the LLM" in said, said
    status = call("gate", "status", out)
    assert "answered by the embedded one" in status.out and "gate: warn" in status.out
    [entry] = read_entries(out)
    assert entry.asking is not None and entry.asking.state == entry.verdict.state == "warn"


def test_a_refused_key_is_no_success(tmp_path: Path, call: Call) -> None:
    config = tmp_path / "evenflow.yaml"
    config.write_text(f"llm: {{detection: llm, cache: {tmp_path / 'answers.sqlite'}}}\n")
    words = ("--stereotypes-action", "flag", "--attribute", "gender", "--set", f"llm.model={MODEL}")

    def run(well: int) -> Ended:
        """A run whose server answers some questions well before the key has expired."""
        turns = in_turn([Turn() for _ in range(well)], then=error(401, "the key has expired"))
        with ScriptedLLM(turns) as server:
            given = ("--config", config, "--set", f"llm.url={server.url}", *words)
            return call("run", corpus(tmp_path), "-o", tmp_path / f"out{well}", *given)

    at_once = run(0)
    assert at_once.status == 1 and "refuses requests without a key" in at_once.err
    assert not (tmp_path / "out0" / "ledger").exists()
    later = run(1)  # of the run, the first question alone, which is asked before it
    assert later.status == 1 and "in pane 0 the embedded model answered" in later.err


def test_each_step_asks_its_model_and_the_cost_says_which_answered(tmp_path: Path) -> None:
    config = load(
        None,
        {
            "llm.model": "large",
            "llm.models": {"indicators": "small"},
            "llm.substitution": "embedded",
            "llm.cache": str(tmp_path / "answers.sqlite"),
        },
    )
    names = ("stereotypes", "indicators", "generation")
    questions = [Question.example(prompts.load(name)) for name in (*names, names[0])]
    with ScriptedLLM(model="large", others=("small",)) as server:
        config = config.model_copy(
            update={"llm": config.llm.model_copy(update={"url": server.url})}
        )
        assert models(config) == {"stereotypes": "large", "indicators": "small"}
        counted = Counted(Tier(config).client)
        answers = counted.ask(questions)
        asked = sorted(each["model"] for each in server.requests)
    assert [each.origin for each in answers] == ["model", "model", "model", "cache"]
    assert [each.model for each in answers] == ["large", "small", "large", "large"]
    assert asked == ["large", "large", "small"]
    cost = {name: counted.stats[name].additive()["models"] for name in names}
    assert cost == {
        "stereotypes": {"large": 2},
        "indicators": {"small": 1},
        "generation": {"large": 1},
    }
    assert Stats.from_json(counted.stats["indicators"].as_json()) == counted.stats["indicators"]


def test_an_entry_of_before_does_not_say_which_model_answered() -> None:
    old = {key: value for key, value in Stats().as_json().items() if key != "models"}
    assert Stats.from_json(old) == Stats()
