"""The laboratory's part on text: what the gate does not need.

Training, benchmarks, masking, generation, the making of word lists, and plans of coverage. Nothing
of the gate imports it.
"""
