"""What a gate has accepted, as one data set: read with one schema, and handed over.

Belongs here: what a person does with accepted rows after the gate.
"""
