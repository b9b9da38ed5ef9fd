"""Learnt models: the encoder with its heads and the first stage before it; `transforms.lab.training` trains them."""
