"""Training of the models that ship: data, network and loss, evaluation, export. Needs the extra
`train`.
"""
