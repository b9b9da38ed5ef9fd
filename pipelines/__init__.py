"""What a person starts: the command line, the gate as a Beam graph, explain, and the report page.

Nothing here computes a figure; that is done in transforms and gates.
"""
