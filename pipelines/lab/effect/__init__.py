"""What a change of a corpus does to the associations of word vectors learnt from it.

The texts after each change, the arms of the experiment, its cells, and what follows belong here.
"""
