"""Scores in batches are those of texts alone; bad models are told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parts import needs_training

needs_training("torch", "transformers", "peft")

import torch  # noqa: E402

from evenflow.transforms.lab.language_models import generation  # noqa: E402
from evenflow.transforms.lab.language_models.causal import CausalModel, Text  # noqa: E402
from evenflow.transforms.lab.language_models.generation import Prompt  # noqa: E402
from evenflow.transforms.lab.language_models.masked import MaskedModel  # noqa: E402
from evenflow.transforms.models import encoding, loading  # noqa: E402
from evenflow.transforms.models.loading import LanguageModelError  # noqa: E402

CLOSE = {"abs": 1e-4}
SENTENCES = ("she was a nurse .", "he was an old doctor , and he said that .", "the man", "her")


def alone(model: CausalModel, text: Text) -> float:
    """A text's score by one pass over it."""
    with torch.no_grad():
        logits = model.loaded.model(torch.tensor([text.tokens])).logits[0]
    values = torch.log_softmax(logits, -1)
    return sum(values[at - 1, text.tokens[at]].item() for at in range(text.start, len(text.tokens)))


def test_batches_give_the_scores_of_texts_alone(llama: Path) -> None:
    model = CausalModel(loading.load(str(llama)))
    contexts = ("", "the old man said that", "a young woman is a")
    items = [
        [model.ending(context, f" {each}" if context else each) for each in SENTENCES]
        for context in contexts
    ]
    # A text that is the beginning of another one, a single one, and a start within what is shared
    items += [
        [Text((5, 7, 8), 1), Text((5, 7, 8, 9, 6), 1)],
        [Text((9, 8, 7), 2)],
        [Text((9, 8, 7, 6, 5), 2), Text((9, 8, 7, 6, 11, 12), 4)],
    ]
    for each in (items, items[:1], items[2:]):
        scores = model.score(each)
        for texts, own in zip(each, scores, strict=True):
            for text, score in zip(texts, own, strict=True):
                assert score.total == pytest.approx(alone(model, text), **CLOSE)
                assert score.tokens == len(text.tokens) - text.start


def test_an_ending_is_cut_as_the_whole_text_is(llama: Path) -> None:
    model = CausalModel(loading.load(str(llama)))
    whole = tuple(model.loaded.tokenizer.encode("the man was a nurse"))
    assert model.ending("the man ", "was a nurse") == Text(whole, 2)
    assert model.ending("", "the man").tokens[0] == model.loaded.tokenizer.eos_token_id


def test_masks_in_batches_give_the_scores_of_masks_alone(bert: Path) -> None:
    model = MaskedModel(loading.load(str(bert)))
    masks = [
        model.masked(tokens, at)
        for tokens in map(model.tokens, SENTENCES)
        for at in range(len(tokens))
    ]
    found = model.score(masks, batch=5)
    for mask, value in zip(masks, found, strict=True):
        with torch.no_grad():
            logits = model.loaded.model(torch.tensor([mask.tokens])).logits[0, mask.at]
        expected = torch.log_softmax(logits, -1)[mask.target].item()
        assert value == pytest.approx(expected, **CLOSE)
    (words,) = model.fill(masks[:1], 3)
    assert len(words) == 3


def test_a_continuation_depends_on_its_seed_alone(llama: Path) -> None:
    loaded = loading.load(str(llama))
    prompts = [Prompt("she was a", 1), Prompt("the old man said that", 2), Prompt("he is", None)]
    together = generation.generate(loaded, prompts, 12)
    assert together == [generation.generate(loaded, [each], 12)[0] for each in prompts]
    again = generation.generate(loaded, [Prompt("she was a", seed) for seed in range(20)], 12)
    assert again[1] == together[0] and len(set(again)) > 10
    stop = next(word for word in together[1].split() if together[1].split()[0] != word)
    assert generation.generate(loaded, prompts[1:2], 12, (stop,)) == [
        together[1][: together[1].index(stop)]
    ]


def test_vectors_of_sentences(bert: Path) -> None:
    loaded = loading.load(str(bert), kind="encoder")
    both = encoding.encode(loaded, SENTENCES, "first", batch=2)
    assert both.shape == (4, 16)
    alone = encoding.encode(loaded, SENTENCES[2:3], "first")
    assert both[2] == pytest.approx(alone[0], abs=1e-5)
    assert encoding.pooling(bert, "masked") == "first"
    (bert / "1_Pooling").mkdir(exist_ok=True)
    (bert / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    assert encoding.pooling(bert, "masked") == "mean"
    shutil.rmtree(bert / "1_Pooling")
    # Means of several tokens
    assert not (encoding.encode(loaded, SENTENCES[:3], "mean") == both[:3]).any()


def _changed(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def _no_tokenizer(folder: Path) -> None:
    for name in loading.TOKENIZERS:
        (folder / name).unlink(missing_ok=True)


def _no_head(folder: Path) -> None:
    """Weights without the head for masked words, as of an encoder."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    kept = {name: each for name, each in load_file(path).items() if "cls" not in name}
    save_file(kept, path, {"format": "pt"})


@pytest.mark.parametrize(
    ("kind", "spoil", "wanted", "message"),
    [
        ("llama", lambda folder: (folder / "config.json").unlink(), None, "no config.json"),
        ("llama", lambda folder: (folder / "config.json").write_text("{"), None, "cannot be read"),
        ("llama", _no_tokenizer, None, "no tokenizer"),
        ("llama", lambda folder: None, "masked", "does not predict masked words"),
        ("bert", lambda folder: None, "causal", "does not predict the next word"),
        ("bert", _no_head, "masked", "the weights lack cls"),
        ("llama", _changed(hidden_size=32, head_dim=16), None, "cannot be loaded|weights lack"),
        ("llama", lambda folder: (folder / "model.safetensors").unlink(), None, "cannot be loaded"),
    ],
)
def test_models_that_cannot_be_used_are_told(
    kind: str,
    spoil: Callable[[Path], None],
    wanted: loading.Kind | None,
    message: str,
    llama: Path,
    bert: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "model"
    shutil.copytree({"llama": llama, "bert": bert}[kind], folder)
    spoil(folder)
    with pytest.raises(LanguageModelError, match=message) as error:
        loading.load(str(folder), kind=wanted)
    assert "\n" not in str(error.value)


def test_adapters(llama: Path, tmp_path: Path) -> None:
    import peft

    base = loading.load(str(llama))
    wanted = ["q_proj", "down_proj"]
    made = peft.get_peft_model(base.model, peft.LoraConfig(r=2, target_modules=wanted))
    for name, weight in made.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, generator=torch.Generator().manual_seed(0))
    adapter = tmp_path / "adapter"
    made.save_pretrained(adapter)
    text = CausalModel(loading.load(str(llama))).ending("", SENTENCES[0])
    plain, adapted = (
        CausalModel(loading.load(str(llama), each)).score([[text]])[0][0].total
        for each in (None, str(adapter))
    )
    assert plain != pytest.approx(adapted, abs=1e-3)
    assert loading.digest(str(llama)) != loading.digest(str(llama), str(adapter))
    with pytest.raises(LanguageModelError, match=r"no adapter_config\.json"):
        loading.load(str(llama), str(llama))
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"target_modules": ["x"]}))
    with pytest.raises(LanguageModelError, match="does not fit"):
        loading.load(str(llama), str(adapter))
    tokenizer = json.loads((llama / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["more"] = 99
    (adapter / "tokenizer.json").write_text(json.dumps(tokenizer))
    shutil.copy(llama / "tokenizer_config.json", adapter)
    with pytest.raises(LanguageModelError, match="tokenizer is not that of the model"):
        loading.load(str(llama), str(adapter))


def test_what_does_not_fit_is_told(llama: Path, bert: Path) -> None:
    causal, masked = (CausalModel(loading.load(str(llama))), MaskedModel(loading.load(str(bert))))
    long = "the man " * 40
    with pytest.raises(
        LanguageModelError, match="item 3: 81 tokens, but the model's context has 64"
    ):
        causal.check([causal.ending("", long)], "item 3")
    with pytest.raises(LanguageModelError, match="nothing is left"):
        causal.check([causal.sentence("man")], "item 4")
    with pytest.raises(LanguageModelError, match="80 tokens and 8 more"):
        causal.check_prompt(Prompt(long), 8, "item 5")
    with pytest.raises(LanguageModelError, match="context has 64"):
        masked.check([masked.masked(masked.tokens(long), 2)], "item 6")
    with pytest.raises(LanguageModelError, match="nothing is downloaded"):
        loading.load("no/such model")
