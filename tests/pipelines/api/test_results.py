"""Results are typed and readable, and arguments of another type are refused in words."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import evenflow

TEXTS = ["She met her brother.", "He met <b>his</b> father."]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> evenflow.Outcome:
    out = tmp_path_factory.mktemp("results") / "out"
    return evenflow.Gate({"pane.docs": 20}, attributes=["gender"]).run(TEXTS * 20, out)


def test_a_measurement_is_typed_and_still_a_dictionary() -> None:
    found = evenflow.measure(TEXTS, attributes=["gender"])
    assert isinstance(found, evenflow.Measurement)
    assert found.documents == found["documents"] == 2
    assert found.attributes["gender"]["counts"] == {"female": 2, "male": 4}
    assert found.to_dict() == found and type(found.to_dict()) is dict
    assert json.loads(json.dumps(found)) == found.to_dict()
    assert repr(found).splitlines()[0] == "2 documents"
    assert "female 2, male 4" in repr(found)
    assert found.frame()["attribute"].tolist() == ["gender"]
    assert repr(evenflow.measure([], attributes=["gender"])).splitlines()[0] == "0 documents"


def test_an_explanation_shows_sentences_and_escapes_them() -> None:
    found = evenflow.explain(TEXTS[1], attributes=["gender"])
    assert isinstance(found, evenflow.Explanation)
    assert found.sentences is found["sentences"]
    assert repr(found).startswith("1 sentence, 1 with a label\nsentence")
    assert "He (male), his (male), father (male)" in repr(found)
    assert len(found.frame()) == 1


def test_an_outcome_has_what_run_prints(outcome: evenflow.Outcome) -> None:
    assert (outcome.documents, outcome.accepted) == (outcome["documents"], outcome["accepted"])
    assert outcome.documents == 40 and Path(outcome.report).is_file()
    assert repr(outcome).startswith(f"{outcome['train']['said']} (")
    assert outcome.frame()["state"].tolist() == [outcome.attributes["gender"]["verdict"]["state"]]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: evenflow.measure(3), "inputs: a path, a list of texts"),  # type: ignore[arg-type]
        (lambda: evenflow.measure(None), "not None (NoneType)"),  # type: ignore[arg-type]
        (lambda: evenflow.measure(b"x"), "inputs: a path"),  # type: ignore[arg-type]
        (lambda: evenflow.measure([], attributes="gender"), "such as ['gender'] was expected"),
        (lambda: evenflow.measure([], attributes=[1]), "attributes: a list of names"),  # type: ignore[list-item]
        (lambda: evenflow.measure([], 3), "config: a Config, the path"),  # type: ignore[arg-type]
        (lambda: evenflow.explain(None), "text: a text was expected, not None"),  # type: ignore[arg-type]
        (lambda: evenflow.Gate().run([], 3), "output: a directory"),  # type: ignore[arg-type]
        (lambda: evenflow.Gate().run([], "o", workers="2"), "workers: a whole number"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_type_are_refused_in_words(call: Any, told: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert told in str(error.value)


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(ValueError, match="workers: 1 or more was expected, not 0"):
        evenflow.Gate().run([], "out", workers=0)


def test_names_of_the_package() -> None:
    assert evenflow.__version__ == version("evenflow")
    for name in evenflow.__all__:
        if name != "beam":  # an extra
            assert getattr(evenflow, name) is not None
    assert issubclass(evenflow.ConfigError, ValueError)
