"""Learnt models: the encoder with its heads and the first stage before it; `train` trains them."""
