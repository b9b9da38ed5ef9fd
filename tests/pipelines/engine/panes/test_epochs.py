"""A run goes on with the same settings; others are refused, or open an epoch."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import report_ledgers

from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.engine.files.driver import settings
from evenflow.pipelines.engine.panes import epochs
from evenflow.pipelines.engine.panes.epochs import RunError, continued
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Epoch
from evenflow.wordlists import loader

LISTS = [loader.load(name) for name in ("gender", "age")]
FILES, TOPIC = {"input": {"/a.jsonl": 1}}, {"stream": {"topic": "t"}}
PROGRAM = {"version": "1", "code": "a", "models": "m", "lists": "l"}


def meta(source: dict[str, Any], **changes: Any) -> dict[str, Any]:
    record = settings(load(None, changes, only=["gender", "age"]), LISTS, source)
    return copy.deepcopy({"settings": record, "epochs": [Epoch(program=PROGRAM).model_dump()]})


def go_on(
    known: dict[str, Any], source: dict[str, Any], program: dict[str, str] = PROGRAM, **changes: Any
) -> Epoch:
    config = load(None, changes, only=["gender", "age"])
    return continued(Path("out"), known, settings(config, LISTS, source), program, LISTS, Totals())


def test_nothing_changed_is_the_same_epoch() -> None:
    assert go_on(meta(FILES), FILES) == Epoch(program=PROGRAM)


@pytest.mark.parametrize("key", ["version", "code", "models", "lists"])
def test_another_program_opens_an_epoch_and_says_what_changed(key: str) -> None:
    epoch = go_on(meta(FILES), FILES, {**PROGRAM, key: "new"})
    assert (epoch.number, epoch.changes) == (1, [f"{key}: {PROGRAM[key]!r} -> 'new'"])


@pytest.mark.parametrize(
    "key, value, line",
    [
        ("gate.block", 0.4, "configuration.gate.block: None -> 0.4"),
        ("gate.most_dead", 0.5, "configuration.gate.most_dead: 0.05 -> 0.5"),
        ("attributes.gender.warn", 0.1, "configuration.attributes.gender.warn: None -> 0.1"),
        ("gate.shift.block", 0.1, "configuration.gate.shift.block: None -> 0.1"),
        ("llm.most_fallbacks", 0.2, "configuration.llm.most_fallbacks: 0.1 -> 0.2"),
    ],
)
def test_thresholds_of_a_topic_open_an_epoch_and_of_files_are_refused(
    key: str, value: Any, line: str
) -> None:
    assert go_on(meta(TOPIC), TOPIC, **{key: value}).changes == [line]
    with pytest.raises(RunError) as raised:
        go_on(meta(FILES), FILES, **{key: value})
    assert line in str(raised.value)


def test_a_reference_that_changed_opens_an_epoch_on_a_topic(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("{}")
    first, digest = go_on(meta(TOPIC), TOPIC, **{"reference.file": str(file)}).changes
    assert first == f"configuration.reference.file: None -> {str(file)!r}"
    assert digest.startswith("reference: None -> '")


@pytest.mark.parametrize(
    "key, value", [("pane.rolling", 9), ("fields.text", "body"), ("repair.mode", "augment")]
)
def test_what_changes_meaning_is_refused_on_a_topic_too(key: str, value: Any) -> None:
    with pytest.raises(RunError, match=rf"configuration\.{key}: "):
        go_on(meta(TOPIC), TOPIC, **{key: value})


def test_a_key_that_one_of_the_programs_does_not_know_is_its_default() -> None:
    known = meta(FILES)
    del (
        known["settings"]["configuration"]["gate"]["most_dead"],
        known["settings"]["configuration"]["duplicates"],
    )
    del known["settings"]["configuration"]["attributes"]["gender"]["stereotypes"]
    known["settings"]["configuration"]["gate"]["of_tomorrow"] = 1
    known["settings"]["prompts"] = {"of": "an earlier version"}
    assert go_on(known, FILES).number == 0
    with pytest.raises(RunError, match=r"configuration\.duplicates\.scope: 'pane' -> 'run'"):
        go_on(known, FILES, **{"duplicates.scope": "run"})


def test_a_ledger_from_before_people_were_counted_goes_on_with_words() -> None:
    known = meta(FILES)
    for key in ("count", "passages"):
        del known["settings"]["configuration"]["measure"][key]
    assert go_on(known, FILES, **{"measure.count": "words"}).number == 0
    with pytest.raises(RunError, match=r"measure\.count: 'words' -> 'people'"):
        go_on(known, FILES, **{"measure.count": "people"})


def test_a_mode_was_one_step_before_it_could_be_several() -> None:
    known = meta(FILES, **{"repair.mode": "substitute", "attributes.age.mode": "augment"})
    configuration = known["settings"]["configuration"]
    configuration["repair"]["mode"] = "substitute"
    configuration["attributes"]["age"]["mode"] = "augment"
    same = {"repair.mode": "substitute", "attributes.age.mode": "augment"}
    assert go_on(known, FILES, **same).number == 0
    with pytest.raises(RunError, match=r"repair\.mode: \['substitute'\] -> \['measure'\]"):
        go_on(known, FILES, **same | {"repair.mode": "measure"})


def test_another_attribute_and_another_list_of_one_s_own_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"configuration\.attributes\.age: "):
        continued(
            Path("out"),
            meta(FILES),
            settings(load(None, only=["gender"]), LISTS, FILES),
            PROGRAM,
            LISTS,
            Totals(),
        )
    known = meta(FILES)
    known["settings"]["wordlists"]["gender"] = "another"
    assert go_on(known, FILES).number == 0  # it is shipped: the program's digests tell
    own = {"attributes.gender.wordlist": str(tmp_path / "gender.yaml")}
    (tmp_path / "gender.yaml").write_text(Path(loader.load("gender").path).read_text())
    known = meta(FILES, **own)
    known["settings"]["wordlists"]["gender"] = "another"
    with pytest.raises(RunError, match=r"wordlists\.gender: 'another' -> "):
        go_on(known, FILES, **own)


def test_other_groups_than_the_ledger_s_are_refused() -> None:
    known, record = meta(FILES), settings(load(None, only=["gender", "age"]), LISTS, FILES)
    totals = Totals.of(report_ledgers.entries(1, groups={"gender": ("female", "male", "neither")}))
    with pytest.raises(RunError, match="groups of gender: "):
        continued(Path("out"), known, record, PROGRAM, LISTS, totals)


def test_the_program_is_told_by_its_files() -> None:
    found = epochs.program(load(None), LISTS)
    assert found == epochs.program(load(None), LISTS) and found.keys() == {
        "version",
        "code",
        "models",
        "lists",
    }
    assert epochs.program(load(None), LISTS[:1])["lists"] != found["lists"]
