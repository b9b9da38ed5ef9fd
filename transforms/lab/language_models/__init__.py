"""Language models that are loaded by path: what a text is worth to them, and what they write.

`loading` reads a folder of transformers, with an adapter of LoRA. `causal` and `masked` score in
batches, `generation` writes, `encoding` gives vectors of sentences. torch and transformers are
imported here alone among the rooms that a run does not need, and only inside functions.
"""
