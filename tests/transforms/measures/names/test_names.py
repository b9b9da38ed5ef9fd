"""Named people: which words are found, how they are counted, how the gate shows them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from parts import needs_training
from plugin_packages import evenflow

from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.names.measure import UNIT, expected
from evenflow.transforms.measures.names.recogniser import MANIFEST, NAMES, Recogniser
from evenflow.transforms.models.files import ModelError


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return Recogniser.shipped()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Then Mary Shelley spoke, and John laughed.", ["mary", "john"]),
        ("We went to Paris in May 1968.", []),
        ("In the end, George Washington won.", ["george"]),
        ("The Charlotte race was long.", []),
        ("he said: MARY!", ["mary"]),
        ("mary and john", []),
        ("", []),
    ],
)
def test_first_names_of_people_are_found(
    recogniser: Recogniser, text: str, names: list[str]
) -> None:
    assert [name for _, name, chance in recogniser.find(text) if chance >= 0.5] == names


def test_a_rare_name_is_less_sure_than_a_frequent_one(recogniser: Recogniser) -> None:
    assert recogniser.names["mary"].female > 0.99 > recogniser.names["zula"].female > 0.5


def test_products_are_those_of_true_counts_on_average(recogniser: Recogniser) -> None:
    text = "Mary met Taylor and John. Leslie saw Taylor Jones and Kim in Charlotte."
    found = expected(text, recogniser)
    assert found is not None
    counts, products = found
    chances: dict[str, list[float]] = {}
    for _, name, chance in recogniser.find(text):
        chances.setdefault(name, []).append(chance)
    rng = np.random.default_rng(0)
    true = np.zeros((200_000, 2))
    for name, own in chances.items():
        there = rng.random(len(true)) < np.mean(own)
        woman = rng.random(len(true)) < recogniser.names[name].female
        true += np.stack([there & woman, there & ~woman], axis=1)
    assert counts / UNIT == pytest.approx(true.mean(0), abs=0.02)
    assert products / UNIT**2 == pytest.approx(true.T @ true / len(true), abs=0.05)


def test_a_name_counts_once_a_document(recogniser: Recogniser) -> None:
    once, often = (expected("Mary laughed. " * times, recogniser) for times in (1, 50))
    assert once is not None and often is not None
    assert once[0].tolist() == often[0].tolist()
    assert expected("Nobody is named here.", recogniser) is None


def test_it_is_off_unless_the_configuration_names_it() -> None:
    assert "names" not in registry.counters(Config(), Config().word_lists())
    config = Config.model_validate({"measures": {"names": {}}})
    assert "names" in registry.counters(config, config.word_lists())


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    source = Path(sys.modules[Recogniser.__module__].__file__ or "").parent
    for name in (MANIFEST, NAMES):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    (tmp_path / NAMES).write_text("mary\t1\n")
    with pytest.raises(ModelError, match="first_names"):
        Recogniser(tmp_path)


@pytest.mark.parametrize(("settings", "state", "status"), [("{}", "open", 0), (None, "block", 3)])
def test_it_goes_through_the_gate(
    tmp_path: Path, settings: str | None, state: str, status: int
) -> None:
    men = ("John", "James", "Robert", "Michael", "William", "David")
    lines = [json.dumps({"text": f"Then {men[n % 6]} Smith spoke."}) + "\n" for n in range(150)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    settings = settings or "{warn: 0.1, block: 0.2, min_people: 50}"
    config = tmp_path / "settings.yaml"
    config.write_text(f"attributes: {{gender: {{}}}}\nmeasures: {{names: {settings}}}\n")
    files = ("--input", tmp_path / "in.jsonl", "--output", tmp_path / "out", "--config", config)
    ended = evenflow(tmp_path, "run", *files, "-q")
    assert ended.returncode == status, ended.stderr
    entry = json.loads((tmp_path / "out/ledger/00000000.json").read_text())
    assert entry["names"]["verdict"]["state"] == state
    assert entry["names"]["sums"]["documents"] == 150
    section = json.loads((tmp_path / "out/report.json").read_text())["measures"]["names"]
    assert section["women"] < 0.05 and section["low"] < section["dr"] <= section["high"]
    assert "named people: about" in evenflow(tmp_path, "gate", "status", tmp_path / "out").stdout
    evenflow(tmp_path, "gate", "metrics", tmp_path / "out", "--file", tmp_path / "out.prom")
    metrics = (tmp_path / "out.prom").read_text()
    assert 'evenflow_names_people_total{gate="out",group="male"} 1' in metrics
    assert 'evenflow_names_dr{figure="low",gate="out"} 0.' in metrics
    measured = ("measure", tmp_path / "in.jsonl", "--config", config)
    assert "named people: about" in evenflow(tmp_path, *measured).stdout
    figures = json.loads(evenflow(tmp_path, *measured, "--json").stdout)["measures"]["names"]
    assert figures["dr"] == section["dr"]


def test_training_learns_signs_and_words_again(tmp_path: Path) -> None:
    needs_training("sklearn")
    from evenflow.pipelines.lab.train import names

    shipped = Path(sys.modules[Recogniser.__module__].__file__ or "").parent / NAMES
    rows = [line.split("\t") for line in shipped.read_text().splitlines()[1:]]
    for name, column in (("female", 1), ("male", 2)):
        own = (
            f"{row[0].upper()} {int(row[column]) / 1000}\n" for row in rows if row[column] != "0"
        )
        (tmp_path / name).write_text("".join(own))
    (tmp_path / "last").write_text("name\tfreq_pct\nSMITH\t1.006\n")
    given = [x for each in ("female", "male") for x in (f"--{each}", str(tmp_path / each))]
    names.main([str(tmp_path / "out"), *given, "--surnames", str(tmp_path / "last")])
    again = Recogniser(tmp_path / "out")
    assert list(again.names) == [row[0] for row in rows]
    text = "Sir Isaac Newton met Mary in Paris."
    assert [name for _, name, chance in again.find(text) if chance >= 0.5] == ["isaac", "mary"]
