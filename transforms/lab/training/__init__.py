"""Trains the models that ship: data, network, loss, evaluation, export. Needs the extra `lab`."""
