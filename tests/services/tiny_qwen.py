"""Writes a tiny Qwen2 with random weights and a tokenizer of bytes: `python tiny_qwen.py FOLDER`,
with vLLM's Python.

What it answers is noise, and is good for nothing but that it answers.
"""

# torch and transformers are in the environment of vLLM alone.
# pyright: reportMissingImports=false
from __future__ import annotations

import sys
from pathlib import Path

CONTEXT = 16384  # tokens, one a byte: enough for every prompt
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content']"
    " }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def main(folder: Path) -> None:
    """Write config, weights and tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({symbol: number for number, symbol in enumerate(symbols)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=SPECIAL[2], pad_token=SPECIAL[0]
    )
    fast.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
    fast.chat_template = CHAT
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(fast),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,  # of 64 dimensions each: vLLM has no attention for CPUs with 16
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        eos_token_id=fast.convert_tokens_to_ids(SPECIAL[2]),
        pad_token_id=fast.convert_tokens_to_ids(SPECIAL[0]),
        bos_token_id=None,
    )
    Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
