"""Verdicts on the share of sentences with a high bias score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
from pane_entries import pane_entry

from evenflow.gates.judge import overall
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config, ConfigError, load
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.measures.bias_score import reference, signal, summary
from evenflow.transforms.measures.bias_score.measure import BiasScoreMeasure
from evenflow.transforms.measures.bias_score.records import BiasScore, BiasSums
from evenflow.transforms.measures.bias_score.reference import BiasReferenceError
from evenflow.transforms.measures.bias_score.score import Scores
from evenflow.transforms.measures.bias_score.signal import LEANING

THRESHOLD = 0.2
BIAS = BiasScoreMeasure()


def sums(high: int, low: int) -> dict:
    """Of documents with one sentence each, some of them above the threshold."""
    absolute = np.repeat([0.3, 0.1], [high, low])
    towards = np.stack([absolute, 0 * absolute], axis=1)
    known = np.ones(len(absolute), bool)
    owners = np.arange(len(absolute))
    return summary.sums(Scores(towards, absolute, known), owners, ("f", "m"), THRESHOLD)


def referred(tmp_path: Path, attribute: str = "gender", vectors: str = "") -> Config:
    """A configuration with a reference whose percentiles are all THRESHOLD, and own vectors."""
    settings = {"bias_score.mode": "measure", "bias_score.attribute": attribute}
    if vectors:
        (tmp_path / "vectors.txt").write_text(vectors)
        settings["bias_score.vectors"] = str(tmp_path / "vectors.txt")
    made_with = signal.of(load(None, settings, only=[attribute])).made_with
    made = reference.content(attribute, made_with, BiasSums.model_validate(sums(10, 90)))
    made["percentiles"] = {name: {"value": THRESHOLD} for name in made["percentiles"]}
    path = tmp_path / "reference.json"
    path.write_bytes(orjson.dumps(made))
    return load(None, {**settings, "bias_score.reference": str(path)}, only=[attribute])


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Shipped vectors."""
    return referred(tmp_path)


def leaning(right: int) -> str:
    """Vectors that lean to the right side in so many of the known sentences of gender."""
    rows = {"she": "1 0", "he": "-1 0"}
    for number, (text, side) in enumerate(LEANING["gender"]):
        toward = (1 if side == "female" else -1) * (1 if number < right else -1)
        words = [word for word in text.lower().split() if word not in rows]
        rows |= dict.fromkeys(words, f"{0.6 * toward} 0.8")
    return "".join(f"{word} {row}\n" for word, row in rows.items())


def run(config: Config, panes: list[tuple[int, int]]) -> list[PaneEntry]:
    totals, out = Totals.for_run(config), []
    for number, each in enumerate(panes):
        found = BIAS.judge(config, [], {"sums": sums(*each)}, totals.measures.get("bias_score"))
        assert found is not None
        measures = {"bias_score": found}
        verdict = overall(pane_entry(number, measures=measures))
        folder = "quarantine" if verdict.state == "block" else "accepted"
        out.append(pane_entry(number, verdict=verdict, folder=folder, measures=measures))
        totals.add(out[-1])
    assert Totals.of(out, config) == totals
    stored = totals.model_dump(mode="json")
    assert len(stored["measures"]["bias_score"]["recent"]) == len(totals.recent_accepted)
    assert Totals.model_validate(stored) == totals
    return out


def found_in(pane: PaneEntry) -> BiasScore:
    found = pane.measures["bias_score"]
    assert isinstance(found, BiasScore)
    return found


def test_a_pane_with_many_high_scores_is_blocked(tmp_path: Path) -> None:
    config = referred(tmp_path, vectors=leaning(12))
    plain, many = (20, 380), (400, 0)
    panes = run(config, [plain, many, plain])
    assert [each.verdict.state for each in panes] == ["open", "block", "open"]
    assert "bias score: rolling share of sentences above the reference's percentile 95" in (
        panes[1].verdict.reason
    )
    rolling = [found_in(each).rolling.above for each in panes]
    assert [each.value for each in rolling if each] == [0.05, 420 / 800, 0.05]
    last = found_in(panes[-1])
    assert last.cumulative.above
    assert last.cumulative.above.value == pytest.approx(440 / 1200, abs=1e-6)


@pytest.mark.parametrize(
    ("attribute", "vectors", "why"),
    [
        ("gender", leaning(3), "lean to it in these vectors, and 90% are needed"),
        ("gender", "", "9 lean to it in these vectors"),
        ("religion", "", "no sentences are known that tell the sides of religion"),
    ],
)
def test_vectors_whose_signs_are_not_right_block_no_pane(
    tmp_path: Path, attribute: str, vectors: str, why: str
) -> None:
    (pane,) = run(referred(tmp_path, attribute, vectors), [(400, 0)])
    verdict = found_in(pane).verdict
    assert verdict.state == "warn"
    assert "reaches block (0.2); not blocked: " in verdict.reason and why in verdict.reason


def test_a_share_between_the_thresholds_warns(config: Config) -> None:
    (pane,) = run(config, [(70, 330)])
    assert pane.verdict.state == "warn"


def test_few_sentences_are_not_judged(config: Config) -> None:
    (pane,) = run(config, [(150, 0)])
    assert found_in(pane).verdict.state == "not_judged"
    assert "150 sentences in 150 documents; 200 sentences are needed" in (
        found_in(pane).verdict.reason
    )


def test_without_a_reference_there_are_figures_and_no_verdict() -> None:
    config = load(None, {"bias_score.mode": "measure"}, only=["gender"])
    (pane,) = run(config, [(400, 0)])
    assert pane.verdict.state == "open"
    found = found_in(pane)
    assert found.threshold is None and found.pane.above is None
    assert found.pane.mean and found.pane.mean.value == pytest.approx(0.3, abs=1e-4)


def test_off_is_nothing() -> None:
    assert BIAS.judge(load(None), [], {}, None) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"made_with": {"vectors": "of others", "words": "of others"}}, "other vectors and words"),
        ({"attribute": "age"}, "a reference of 'age', not 'gender'"),
        ({"version": 2}, "version 1 was expected"),
        ({"percentiles": {}}, "no reference"),
    ],
)
def test_another_reference_is_refused(config: Config, change: dict, message: str) -> None:
    assert config.bias_score.reference
    path = Path(config.bias_score.reference)
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | change))
    with pytest.raises(BiasReferenceError, match=message):
        signal.BiasSignal(config)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\xff"])
def test_a_file_that_is_no_reference_is_refused(config: Config, content: bytes) -> None:
    assert config.bias_score.reference
    Path(config.bias_score.reference).write_bytes(content)
    with pytest.raises(BiasReferenceError, match="no reference of the bias score"):
        signal.BiasSignal(config)


def test_a_configuration_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="'gender' is not measured; age are"):
        load(None, {"bias_score.mode": "measure"}, only=["age"])
    with pytest.raises(ConfigError, match="subtract needs one"):
        load(None, {"bias_score.mode": "subtract"})
    with pytest.raises(ConfigError, match=r"block \(0.05\) is below warn \(0.1\)"):
        load(None, {"bias_score.block": 0.05})
