"""Learnt models: the encoder with its heads and the first stage; `lab.training` trains them."""
