"""What `evenflow explain` shows of a text: sentences, labels, counterfactuals, stereotypes.

Nothing is decided here: the models and the limits that decide are those of `evenflow run`.
"""
